/** Runs tool calls: found, checked, in their turn, within their time, and never twice where that could matter. */

import { setMaxListeners } from "node:events";
import type { JsonObject, RequestOptions, ToolResult } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf } from "../discover/tool-changes.ts";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { toShellWord } from "../text/shell-word.ts";
import { createCallQueue } from "./call-queue.ts";
import type { CallResult } from "./call-result.ts";
import { checkArguments } from "./check-arguments.ts";
import { checkOutput } from "./check-output.ts";
import { findTool } from "./find-tool.ts";
import { mayRepeat } from "./may-repeat.ts";
import type { Validator } from "./validation/validator.ts";

export type CallClient = Pick<McpClient, "name" | "offering" | "callTool">;

export interface Call {
  readonly client: CallClient;
  readonly tool: string;
  readonly args: unknown;
}

export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined;
  /** The longest silence in milliseconds; progress restarts it. Waiting for its turn does not use it up. */
  readonly timeout: number;
  /** The absolute limit in milliseconds, from the moment it is sent. */
  readonly total: number;
  readonly onProgress?: RequestOptions["onProgress"];
  /** Told when it is its turn. */
  readonly onStart?: (() => void) | undefined;
  /** What the server says about its tools is believed: one that changes nothing, or nothing more, may be called again. */
  readonly trustAnnotations?: boolean;
}

export interface Executor {
  readonly call: (call: Call, options: ExecuteOptions) => Promise<CallResult>;
  /** Cancels whatever waits or runs; resolves when it has ended. */
  readonly close: () => Promise<void>;
}

export interface ExecutorOptions {
  readonly limits: { readonly callsPerServer: number; readonly callsTotal: number };
  /** How many calls may wait for one server. */
  readonly queuePerServer?: number;
  readonly validator: Pick<Validator, "validate">;
  /** A new connection to a server that was lost, or the one that is there; without it no call is repeated. */
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
  /** How to call off each call that waits or runs. */
  const open = new Map<() => void, Promise<unknown>>();
  let isClosed = false;

  /** Up to the moment in which it may be sent: nothing has happened yet. */
  async function admit({ client, tool: name, args }: Call, signal: AbortSignal) {
    const serverName = client.name;
    const tool = findTool(client, name);
    if (!isObject(args))
      throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName });
    try {
      signal.throwIfAborted();
      const unchecked = await checkArguments({ serverName, tool, args }, validator, signal);
      return { tool, args, unchecked, leave: await queue.enter(serverName, signal) };
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
    // It may have gone while the call waited, and refuses; or it is back, with other tools.
    const isGone = client.offering === undefined;
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
        await sleep(clock, pause, how.signal).catch(() => Promise.reject(cancelled(client, tool.name, how.signal)));
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

/** Whether the tool is what it was when the call was asked for and allowed. */
function isStill({ offering }: CallClient, tool: CatalogTool): boolean {
  const now = offering?.catalog.tools.find(({ name }) => name === tool.name);
  return now !== undefined && (now === tool || definitionOf(now) === definitionOf(tool));
}

function cancelled({ name: serverName }: CallClient, tool: string, { reason }: AbortSignal): HostError {
  const message = `${serverName}.${tool} was cancelled before it was sent`;
  return new HostError("cancelled", message, { serverName, cause: reason });
}

function changed({ name: serverName }: CallClient, tool: CatalogTool): HostError {
  const message = `${serverName}.${tool.name} is no longer what it was when it was called; it was not sent`;
  return new HostError("changed", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}
