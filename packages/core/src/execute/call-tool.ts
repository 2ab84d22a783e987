/** Runs one tool call: makes sure that there is such a tool and that it may be called, then passes the call on. */

import type { JsonObject, RequestOptions, ToolResult } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";

/** What the tool answered. An error that the tool itself reports is an answer too. */
export interface CallResult extends Omit<ToolResult, "notes"> {
  /** What of the answer had to be guessed or repaired, if anything. */
  readonly warnings?: readonly string[];
}

export interface Call {
  readonly client: Pick<McpClient, "name" | "offering" | "callTool">;
  readonly tool: string;
  readonly args: unknown;
}

export async function callTool({ client, tool, args }: Call, options: RequestOptions): Promise<CallResult> {
  checkTool(client, tool);
  if (!isObject(args))
    throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName: client.name });
  const { notes, ...result } = await client.callTool(tool, args, options);
  return notes.length > 0 ? { ...result, warnings: notes } : result;
}

function checkTool({ name: serverName, offering }: Call["client"], tool: string): void {
  const names = offering?.catalog.tools.map(({ name }) => name) ?? [];
  if (names.includes(tool)) return;
  const setting = offering?.hidden.get(tool);
  if (setting !== undefined)
    throw new HostError("denied", `${setting} of "${serverName}" in the settings leaves the tool "${tool}" out`, {
      serverName,
      next: `Change ${setting} of "${serverName}" in the settings.`,
    });
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
