// The official client, version 2.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openWith } from "./sdk.mjs";

export const open = openWith({ Client, StdioClientTransport, StreamableHTTPClientTransport });
