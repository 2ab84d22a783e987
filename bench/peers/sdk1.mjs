// The official client, version 1.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openWith } from "./sdk.mjs";

export const open = openWith({ Client, StdioClientTransport, StreamableHTTPClientTransport });
