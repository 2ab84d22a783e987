/**
 * Runs one call of a `CallableTool`. After a timeout or a cancellation, the caller stops waiting, but the tool may
 * continue.
 */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { getStringifiedResultForDisplay } from "../normalise/content/display.ts";
import { isToolError, transformMcpContentToParts } from "../normalise/content/parts.ts";
import type { CallableTool, Part } from "../normalise/model-types.ts";
import type { ToolExecution } from "./binding.ts";

/** One call, its timeout in milliseconds and its abort signal. Without a timeout, it waits without limit. */
export interface CallableCall {
  readonly callable: CallableTool;
  readonly serverName: string;
  readonly serverToolName: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal | undefined;
  readonly timeout: number | undefined;
  readonly clock: Clock;
}

/** Runs the call. @throws HostError `protocol`, `call_timeout`, `cancelled` */
export async function callThrough(call: CallableCall): Promise<ToolExecution> {
  const { callable, serverName, serverToolName, args, signal } = call;
  if (signal?.aborted) throw cancelled(call);
  const answer = callable.callTool([{ name: serverToolName, args }]);
  const parts: unknown = await inTime(answer, call);
  if (!isParts(parts))
    throw new HostError("protocol", `${serverName}.${serverToolName} did not return a list of parts`, {
      serverName,
    });
  const returnDisplay = getStringifiedResultForDisplay(parts);
  const said = returnDisplay.slice(0, 500);
  return {
    llmContent: transformMcpContentToParts(parts, { toolName: serverToolName }),
    returnDisplay,
    ...(isToolError(parts) && {
      error: new HostError("tool_error", `${serverName}.${serverToolName} reported an error: ${said}`, { serverName }),
    }),
  };
}

/** Checks the returned value, because a program's own `CallableTool` may return anything. */
function isParts(answer: unknown): answer is Part[] {
  return Array.isArray(answer) && answer.every((part) => typeof part === "object" && part !== null);
}

async function inTime<T>(answer: Promise<T>, call: CallableCall): Promise<T> {
  const { timeout, signal, clock } = call;
  const stops: (() => void)[] = [];
  const left = new Promise<never>((_, reject) => {
    const leave = (): void => reject(cancelled(call));
    signal?.addEventListener("abort", leave, { once: true });
    stops.push(() => signal?.removeEventListener("abort", leave));
    if (timeout !== undefined) stops.push(clock.after(timeout, () => reject(late(call, timeout))));
  });
  try {
    return await Promise.race([answer, left]);
  } finally {
    for (const stop of stops) stop();
  }
}

function late({ serverName, serverToolName }: CallableCall, timeout: number): HostError {
  return new HostError(
    "call_timeout",
    `${serverName}.${serverToolName} timed out: no result within ${timeout} ms; the request may or may not have run`,
    {
      serverName,
      next: "Give the tool a longer timeout.",
    },
  );
}

function cancelled({ serverName, serverToolName }: CallableCall): HostError {
  return new HostError("cancelled", `${serverName}.${serverToolName} was cancelled`, { serverName });
}
