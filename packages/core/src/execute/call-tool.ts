/** Runs one tool call over a conversation, and makes sure that what comes back is a tool's answer. */

import type { JsonObject, RequestOptions, Session } from "@fairlead/wire";
import { toHostError } from "../connect/outcome.ts";
import { HostError } from "../errors.ts";

/** What the tool answered, raw. An error that the tool itself reports is an answer too. */
export interface CallResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

export interface Call {
  readonly session: Session;
  readonly server: string;
  readonly tool: string;
  readonly args: unknown;
}

export async function callTool({ session, server, tool, args }: Call, options: RequestOptions): Promise<CallResult> {
  const what = `${server}.${tool}`;
  if (!isObject(args))
    throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName: server });
  try {
    const result = await session.request("tools/call", { name: tool, arguments: args }, options);
    const content: unknown = result["content"] ?? [];
    if (!Array.isArray(content) || !content.every(isObject))
      throw new HostError("protocol", `${what} answered with something that is no list of content`, {
        serverName: server,
      });
    const structured = result["structuredContent"];
    return {
      content,
      ...(structured === undefined ? {} : { structuredContent: structured }),
      isError: result["isError"] === true,
    };
  } catch (error) {
    throw toHostError(error, { serverName: server, what });
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
