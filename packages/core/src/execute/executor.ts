/**
 * Runs tool calls: finds the tool, checks the arguments, waits for a slot, enforces timeouts, and repeats a failed call
 * only if that is safe.
 */

import { setMaxListeners } from "node:events";
import type { JsonObject, McpRequestOptions, ToolResult } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf } from "../discover/tool-changes.ts";
import { type ErrorCode, HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";
import { createCallQueue } from "./call-queue.ts";
import type { CallResult } from "./call-result.ts";
import { checkArguments, checkOutput } from "./check-values.ts";
import type { Validator } from "./validation/validator.ts";

/** The part of a server's client that a call needs. */
export type CallClient = Pick<McpClient, "name" | "filteredCatalog" | "callTool">;

export interface Call {
  readonly client: CallClient;
  readonly tool: string;
  readonly args: unknown;
}

export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined;
  /** The longest time without a response or progress, in milliseconds. Waiting in the queue does not count. */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  readonly onProgress?: McpRequestOptions["onProgress"];
  /** Called when the call leaves the queue. */
  readonly onStart?: (() => void) | undefined;
  /** Whether the server's annotations are trusted: a read-only or idempotent tool may then be called again. */
  readonly trustAnnotations?: boolean;
}

export interface Executor {
  readonly call: (call: Call, options: ExecuteOptions) => Promise<CallResult>;
  /** Cancels all waiting and running calls; resolves when they have ended. */
  readonly close: () => Promise<void>;
}

export interface ExecutorOptions {
  readonly limits: { readonly callsPerServer: number; readonly callsTotal: number };
  /** Maximum number of calls that may wait for one server. */
  readonly queuePerServer?: number;
  readonly validator: Pick<Validator, "validate">;
  /** Returns a connected client for a server that was lost. Without it, no call is repeated. */
  readonly reconnect?: (server: string, signal: AbortSignal) => Promise<CallClient>;
  readonly clock?: Clock;
}

const queueOfOneServer = 256;

export function createExecutor(options: ExecutorOptions): Executor {
  const { limits, queuePerServer = queueOfOneServer, validator, reconnect, clock = systemClock } = options;
  const queue = createCallQueue({
    perServer: limits.callsPerServer,
    total: limits.callsTotal,
    waitingPerServer: queuePerServer,
  });
  /** Waiting and running calls, by the function that cancels them. */
  const open = new Map<() => void, Promise<unknown>>();
  let isClosed = false;

  /** Everything before sending: the server has seen nothing of the call yet. */
  async function admit({ client, tool: name, args: given }: Call, signal: AbortSignal) {
    const serverName = client.name;
    const tool = findTool(client, name);
    if (!isObject(given))
      throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName });
    try {
      signal.throwIfAborted();
      const { args, warnings } = await checkArguments({ serverName, tool, args: given }, validator, signal);
      return { tool, args, unchecked: warnings, leave: await queue.enter(serverName, signal) };
    } catch (error) {
      throw signal.aborted ? cancelled(client, name, signal) : error;
    }
  }

  async function execute(call: Call, how: ExecuteOptions & { signal: AbortSignal }): Promise<CallResult> {
    const { tool, args, unchecked, leave } = await admit(call, how.signal);
    how.onStart?.();
    const { notes, ...result } = await sendOnceOrAgain(call.client, tool, args, how).finally(leave);
    const warnings = [...unchecked, ...notes, ...(await checkOutput(result, tool, validator))];
    return warnings.length > 0 ? { ...result, warnings } : result;
  }

  async function sendOnceOrAgain(
    client: CallClient,
    tool: CatalogTool,
    args: JsonObject,
    { trustAnnotations = false, ...how }: ExecuteOptions & { signal: AbortSignal },
  ): Promise<ToolResult> {
    const began = clock.now();
    // The server may be gone, or may be reconnected with other tools, while the call waited.
    const isGone = client.filteredCatalog === undefined;
    if (!isGone && !isStill(client, tool)) throw changed(client, tool);
    try {
      return await send(client, tool, args, how);
    } catch (error) {
      if (!(error instanceof HostError) || reconnect === undefined || how.signal.aborted) throw error;
      const pause = pauseAfter(error);
      const failed = {
        code: error.code,
        neverLeft: isGone || neverLeft(error),
        annotations: tool.annotations,
        trustAnnotations,
        pause,
        timeLeft: Math.min(how.timeout, how.total - (clock.now() - began)),
      };
      if (!mayRepeat(failed)) throw error;
      if (pause !== undefined)
        await sleep(clock, pause, how.signal).catch(() => {
          throw cancelled(client, tool.name, how.signal, "it was sent again");
        });
      const next = await reconnect(client.name, how.signal).catch((failure: unknown) => {
        throw failed.neverLeft ? failure : error;
      });
      if (!isStill(next, tool)) throw failed.neverLeft ? changed(next, tool) : error;
      return send(next, tool, args, { ...how, total: Math.max(how.total - (clock.now() - began), 1) });
    }
  }

  return {
    async call(call, given) {
      const { signal } = given;
      const stop = new AbortController();
      const callOff = (): void => stop.abort(signal?.reason);
      if (isClosed || signal?.aborted) callOff();
      // Many calls may share one signal: Node takes more than ten listeners for a leak.
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener("abort", callOff, { once: true });
      const running = execute(call, { ...given, signal: stop.signal });
      open.set(callOff, running);
      try {
        return await running;
      } finally {
        signal?.removeEventListener("abort", callOff);
        open.delete(callOff);
      }
    },

    async close() {
      isClosed = true;
      const ends = Promise.allSettled(open.values());
      for (const callOff of open.keys()) callOff();
      await ends;
    },
  };
}

function send(client: CallClient, tool: CatalogTool, args: JsonObject, how: ExecuteOptions): Promise<ToolResult> {
  const { signal, timeout, total, onProgress } = how;
  const asTask = tool.execution?.["taskSupport"] === "required";
  return client.callTool(tool.name, args, { signal, timeout, total, asTask, ...(onProgress && { onProgress }) });
}

/** Whether the tool's definition is the same as when the call was decided. */
function isStill({ filteredCatalog }: CallClient, tool: CatalogTool): boolean {
  const now = filteredCatalog?.catalog.tools.find(({ name }) => name === tool.name);
  return now !== undefined && (now === tool || definitionOf(now) === definitionOf(tool));
}

function cancelled(
  { name: serverName }: CallClient,
  tool: string,
  { reason }: AbortSignal,
  before = "it was sent",
): HostError {
  const message = `${serverName}.${tool} was cancelled before ${before}`;
  return new HostError("cancelled", message, { serverName, cause: reason });
}

function changed({ name: serverName }: CallClient, tool: CatalogTool): HostError {
  const message = `${serverName}.${tool.name} was not called: its definition changed while the call waited`;
  return new HostError("changed", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}

interface FailedCall {
  readonly code: ErrorCode;
  /** The call certainly did not reach the server. */
  readonly neverLeft: boolean;
  /** The tool's annotations, claimed by the server. */
  readonly annotations: JsonObject | undefined;
  /** Whether the annotations of the tool are trusted. */
  readonly trustAnnotations: boolean;
  /** Milliseconds that a busy server asks to wait. */
  readonly pause: number | undefined;
  /** Milliseconds that the call may still take. */
  readonly timeLeft: number;
}

/** Whether a failed call may be sent again without asking: never if it could take effect twice. */
export function mayRepeat(failed: FailedCall): boolean {
  const { code, neverLeft, annotations, trustAnnotations, pause, timeLeft } = failed;
  if (pause !== undefined && pause >= timeLeft) return false;
  // The connection failed, and a new one may succeed. Any other error would occur again.
  if (neverLeft) return code === "unreachable" || code === "server_exited";
  return code === "lost" && trustAnnotations && isHarmless(annotations);
}

function isHarmless(annotations: JsonObject = {}): boolean {
  return annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
}

/** Returns the tool. @throws HostError `denied` if a filter hides it, `tool_unknown` */
export function findTool(
  { name: serverName, filteredCatalog }: Pick<McpClient, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool {
  const tools = filteredCatalog?.catalog.tools ?? [];
  const found = tools.find(({ name }) => name === tool);
  if (found) return found;
  const setting = filteredCatalog?.hidden.get(tool);
  if (setting !== undefined)
    throw new HostError(
      "denied",
      `${serverName}.${tool} denied: ${setting} of "${serverName}" in the settings excludes it`,
      {
        serverName,
        next: `Change ${setting} of "${serverName}" in the settings.`,
      },
    );
  const names = tools.map(({ name }) => name);
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}
