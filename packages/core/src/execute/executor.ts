/**
 * Runs tool calls: finds the tool, checks the arguments, waits until the call may start, enforces timeouts, and repeats
 * a failed call only if that is safe.
 */

import { setMaxListeners } from "node:events";
import type { JsonObject, McpRequestOptions, ToolResult } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf } from "../discover/tool-changes.ts";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { type RequestSignal, toAbortSignal } from "../mcp/unless-aborted.ts";
import { callCancelled, toolChanged } from "./call-errors.ts";
import { type CallQueue, createCallQueue } from "./call-queue.ts";
import { type CallResult, toCallResult } from "./call-result.ts";
import { type CheckedArguments, checkArguments, checkOutput } from "./check-values.ts";
import { findListed, findTool, toolNamed } from "./find-tool.ts";
import { mayRepeat } from "./may-repeat.ts";
import type { Validator } from "./validation/validator.ts";

/** The part of a server's client that a call needs. */
export type CallClient = Pick<McpClient, "name" | "filteredCatalog" | "callTool">;

export interface Call<Client extends CallClient = CallClient> {
  readonly client: Client;
  readonly tool: string;
  readonly args: unknown;
}

/** A call whose result is returned to the caller exactly as the server sent it. */
export interface RawCall<Client extends CallClient, Answer> extends Call<Client> {
  /** Sends the call. Called a second time, with a new connection, only if repeating the call is safe. */
  readonly send: (client: Client, args: JsonObject, options: McpRequestOptions, tool: string) => Promise<Answer>;
}

export interface ExecuteOptions {
  readonly signal?: RequestSignal | undefined;
  /** The longest time without a response or progress, in milliseconds. The time in the queue does not count. */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  readonly onProgress?: McpRequestOptions["onProgress"] | undefined;
  /** Called when the call leaves the queue. */
  readonly onStart?: (() => void) | undefined;
  /**
   * The sender of the call. Each sender has its own queue, so that the calls of one sender never wait for those of
   * another.
   */
  readonly sender?: string | undefined;
  /**
   * Whether the user trusts the server's annotations. If so, a read-only or idempotent tool may be called again after a
   * failure.
   */
  readonly trustAnnotations?: boolean | undefined;
}

export interface Executor<Client extends CallClient = CallClient> {
  readonly call: (call: Call<Client>, options: ExecuteOptions) => Promise<CallResult>;
  /**
   * Like `call`, but for a call that a client of the gateway makes: the result is returned unchanged, and the server
   * need not list the tool.
   */
  readonly forward: <Answer>(call: RawCall<Client, Answer>, options: ExecuteOptions) => Promise<Answer>;
  /** Cancels all waiting and running calls. Resolves when they have ended. */
  readonly close: () => Promise<void>;
}

export interface ExecutorOptions<Client extends CallClient = CallClient> {
  readonly limits: { readonly callsPerServer: number; readonly callsTotal: number };
  /** Maximum number of calls that may wait for one server. */
  readonly queuePerServer?: number;
  readonly validator: Pick<Validator, "validate">;
  /** Returns a connected client for a server whose connection was lost. If absent, no call is repeated. */
  readonly reconnect?: (server: string, signal: AbortSignal) => Promise<Client>;
  /**
   * A signal for the calls whose callers gave none. The executor's owner must abort it before calling `close`. Default:
   * a signal that `close` itself aborts.
   */
  readonly closing?: AbortSignal;
  /**
   * True if the owner aborts the signals of all calls before it calls `close`, so that the executor need not cancel
   * them.
   */
  readonly abortsAll?: boolean;
  readonly clock?: Clock;
}

const queueOfOneServer = 256;

export function createExecutor<Client extends CallClient = CallClient>(
  options: ExecutorOptions<Client>,
): Executor<Client> {
  const { limits, queuePerServer = queueOfOneServer, validator, reconnect, clock = systemClock } = options;
  const createQueue = (): CallQueue =>
    createCallQueue({
      perServer: limits.callsPerServer,
      total: limits.callsTotal,
      waitingPerServer: queuePerServer,
    });
  const ownQueue = createQueue();
  const queues = new Map<string, CallQueue>();
  const closed = new AbortController();
  const closing = options.closing ?? closed.signal;
  setMaxListeners(0, closing);
  /** The functions with which `close` cancels calls that were given a signal. */
  const stops = new Set<() => void>();
  let running = 0;
  /** The functions to call when no call is waiting or running any more. */
  const onIdle: (() => void)[] = [];

  function queueOf(sender: string | undefined): CallQueue {
    if (sender === undefined) return ownQueue;
    const queue = queues.get(sender) ?? createQueue();
    queues.set(sender, queue);
    return queue;
  }

  /** Runs the call with a signal that is aborted when the caller cancels the call or `close` is called. */
  function start<Answer, Result>(
    call: Call<Client>,
    how: ExecuteOptions,
    steps: CallSteps<Client, Answer, Result>,
  ): Promise<Result> {
    const { signal: given = closing } = how;
    if (given === closing || options.abortsAll === true) return execute(call, how, given, steps);
    const signal = toAbortSignal(given);
    const own = new AbortController();
    const callOff = (): void => own.abort(signal.reason);
    if (closed.signal.aborted || signal.aborted) callOff();
    // Many calls may share one signal. By default, Node reports more than ten listeners of a signal as a leak.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", callOff, { once: true });
    const started = execute(call, how, own.signal, steps);
    stops.add(callOff);
    const leave = (): void => {
      signal.removeEventListener("abort", callOff);
      stops.delete(callOff);
    };
    started.then(leave, leave);
    return started;
  }

  /**
   * Runs all steps of a call in one `async` function, because each further `async` function would create a
   * promise, which costs as much as sending the call.
   */
  async function execute<Answer, Result>(
    call: Call<Client>,
    how: ExecuteOptions,
    signal: RequestSignal,
    { find, send, finish }: CallSteps<Client, Answer, Result>,
  ): Promise<Result> {
    const { client, tool: name, args: given } = call;
    const serverName = client.name;
    running += 1;
    try {
      const tool = find(client, name);
      if (!isObject(given))
        throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName });
      let checked: CheckedArguments | undefined;
      let leave: (() => void) | undefined;
      /** Whether the call had to wait. While it waited, the tool's definition may have changed. */
      let hasWaited = false;
      try {
        signal.throwIfAborted();
        const found = tool && checkArguments(serverName, tool, given, validator, signal);
        hasWaited = found instanceof Promise;
        checked = found instanceof Promise ? await found : found;
        const queue = queueOf(how.sender);
        leave = queue.tryEnter(serverName);
        hasWaited ||= leave === undefined;
        leave ??= await queue.enter(serverName, toAbortSignal(signal));
      } catch (error) {
        throw signal.aborted ? callCancelled(client.name, name, signal) : error;
      }
      const args = checked?.args ?? given;
      const began = clock.now();
      const isGone = client.filteredCatalog === undefined;
      let answer: Answer;
      try {
        how.onStart?.();
        if (hasWaited && !isGone && !isStill(client, name, tool)) throw toolChanged(client.name, name);
        try {
          answer = await send(client, args, optionsOf(tool, how, signal, how.total), name);
        } catch (error) {
          answer = await sendAgain({ error, isGone, began }, { client, name, tool, args, send }, how, signal);
        }
      } finally {
        leave();
      }
      const result = finish(answer, tool, checked?.warnings ?? none);
      return result instanceof Promise ? await result : result;
    } finally {
      running -= 1;
      if (running === 0) for (const resolve of onIdle) resolve();
    }
  }

  /** Repeats a failed call if that is safe. @throws HostError `changed`, or the error of the failed call */
  async function sendAgain<Answer>(
    { error, isGone, began }: FailedCall,
    { client, name, tool, args, send }: CheckedCall<Client, Answer>,
    how: ExecuteOptions,
    signal: RequestSignal,
  ): Promise<Answer> {
    if (!(error instanceof HostError) || reconnect === undefined || signal.aborted) throw error;
    const pause = pauseAfter(error);
    const failed = {
      code: error.code,
      neverLeft: isGone || neverLeft(error),
      annotations: tool?.annotations,
      trustAnnotations: how.trustAnnotations ?? false,
      pause,
      timeLeft: Math.min(how.timeout, how.total - (clock.now() - began)),
    };
    if (!mayRepeat(failed)) throw error;
    if (pause !== undefined)
      await sleep(clock, pause, toAbortSignal(signal)).catch(() => {
        throw callCancelled(client.name, name, signal, "it was sent again");
      });
    const next = await reconnect(client.name, toAbortSignal(signal)).catch((failure: unknown) => {
      throw failed.neverLeft ? failure : error;
    });
    if (!isStill(next, name, tool)) throw failed.neverLeft ? toolChanged(next.name, name) : error;
    const total = Math.max(how.total - (clock.now() - began), 1);
    return send(next, args, optionsOf(tool, how, signal, total), name);
  }

  /**
   * The steps of a call. All calls share these functions, because creating them for each call would cost as much as
   * sending the call.
   */
  const callSteps: CallSteps<Client, ToolResult, CallResult> = {
    find: findTool,
    send: (client, args, options, name) => client.callTool(name, args, options),
    finish: (answer, tool, warnings) =>
      tool?.outputSchema === undefined
        ? toCallResult(answer, warnings, none)
        : checkOutput(answer, tool, validator).then((unmatched) => toCallResult(answer, warnings, unmatched)),
  };

  return {
    call: (call, how) => start(call, how, callSteps),
    forward: (call, how) => start(call, how, { find: findListed, send: call.send, finish: asIs }),

    async close() {
      closed.abort();
      for (const callOff of stops) callOff();
      if (running > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

const none: readonly string[] = [];

interface CallSteps<Client extends CallClient, Answer, Result> extends Pick<RawCall<Client, Answer>, "send"> {
  readonly find: (client: Client, name: string) => CatalogTool | undefined;
  readonly finish: (
    answer: Answer,
    tool: CatalogTool | undefined,
    warnings: readonly string[],
  ) => Result | Promise<Result>;
}

interface CheckedCall<Client extends CallClient, Answer> extends Pick<RawCall<Client, Answer>, "client" | "send"> {
  readonly name: string;
  /** The tool's definition; undefined if the server does not list the tool. */
  readonly tool: CatalogTool | undefined;
  readonly args: JsonObject;
}

/** The failure of the first attempt to send a call. */
interface FailedCall {
  readonly error: unknown;
  /** Whether the server was disconnected before the call could be sent. */
  readonly isGone: boolean;
  /** When the call was sent, by the executor's clock. */
  readonly began: number;
}

function asIs<T>(answer: T): T {
  return answer;
}

function optionsOf(
  tool: CatalogTool | undefined,
  { timeout, onProgress }: ExecuteOptions,
  given: RequestSignal,
  total: number,
): McpRequestOptions {
  const asTask = tool?.execution?.["taskSupport"] === "required";
  if ("onAbort" in given) return { signal: undefined, stop: given, timeout, total, asTask, onProgress };
  return { signal: given, stop: undefined, timeout, total, asTask, onProgress };
}

/**
 * Whether the tool has the same definition as when the call began. Also true if the server listed the tool neither then
 * nor now.
 */
function isStill({ filteredCatalog }: CallClient, name: string, tool: CatalogTool | undefined): boolean {
  const now = filteredCatalog && toolNamed(filteredCatalog.catalog.tools, name);
  if (now === undefined || tool === undefined) return now === tool;
  return now === tool || definitionOf(now) === definitionOf(tool);
}
