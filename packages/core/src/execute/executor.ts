/**
 * Runs tool calls: finds the tool, checks the arguments, waits until the call may start, enforces timeouts, and repeats
 * a failed call only if that is safe.
 */

import { setMaxListeners } from "node:events";
import type { ToolResult } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import { HostError } from "../errors.ts";
import { type RequestSignal, toAbortSignal } from "../mcp/unless-aborted.ts";
import { callCancelled, toolChanged } from "./call-errors.ts";
import { createCallQueue, type WaitingCall } from "./call-queue.ts";
import { type CallResult, toCallResult } from "./call-result.ts";
import { type CheckedArguments, checkArguments, checkOutput } from "./check-values.ts";
import { findListed, findTool } from "./find-tool.ts";
import { mayRepeat } from "./may-repeat.ts";
import {
  type Call,
  type CallClient,
  type CallSteps,
  type ExecuteOptions,
  type FirstFailure,
  isStill,
  optionsOf,
  type RawCall,
  RunningCall,
  type RunningCallQueue,
} from "./running-call.ts";
import type { Validator } from "./validation/validator.ts";

export type { Call, CallClient, ExecuteOptions, RawCall } from "./running-call.ts";

/** Runs tool calls on connected servers, within the limits. */
export interface Executor<Client extends CallClient = CallClient> {
  readonly call: (call: Call<Client>, options: ExecuteOptions) => Promise<CallResult>;
  /**
   * Runs a call from a gateway client. Returns the server's result unchanged. The server's list need not contain the
   * tool.
   */
  readonly forward: <Answer>(call: RawCall<Client, Answer>, options: ExecuteOptions) => Promise<Answer>;
  /** Cancels all waiting and running calls. Resolves when they have ended. */
  readonly close: () => Promise<void>;
}

/** Limits, validator and connections that an executor uses. */
export interface ExecutorOptions<Client extends CallClient = CallClient> {
  readonly limits: { readonly callsPerServer: number; readonly callsTotal: number };
  /** Maximum number of calls that may wait for one server. */
  readonly queuePerServer?: number;
  readonly validator: Pick<Validator, "validate">;
  /** Returns a connected client for a server whose connection was lost. If absent, no call is repeated. */
  readonly reconnect?: (server: string, signal: AbortSignal) => Promise<Client>;
  /**
   * Signal for calls without a signal of their own. The executor's owner must abort it before `close`. Default: `close`
   * aborts these calls.
   */
  readonly closing?: AbortSignal;
  /**
   * True if the owner aborts the signals of all calls before `close`. The executor then does not cancel them itself.
   */
  readonly abortsAll?: boolean;
  readonly clock?: Clock;
}

const queueOfOneServer = 256;

/** Creates an executor. By default, at most 256 calls wait for one server. */
export function createExecutor<Client extends CallClient = CallClient>(
  options: ExecutorOptions<Client>,
): Executor<Client> {
  const { limits, queuePerServer = queueOfOneServer, validator, reconnect, clock = systemClock } = options;
  const calls = createCallQueue({
    perServer: limits.callsPerServer,
    total: limits.callsTotal,
    waitingPerServer: queuePerServer,
  });
  const closed = new AbortController();
  const closing = options.closing ?? closed.signal;
  setMaxListeners(0, closing);
  /** `close` runs these functions to cancel the calls that have a signal of their own. */
  const stops = new Set<() => void>();
  let running = 0;
  const onIdle: (() => void)[] = [];

  /** Runs the call. It is cancelled when the caller's signal is aborted, or by `close`. */
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
    // Many calls may share one signal. Node warns about a leak if a signal has more than ten listeners.
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
   * Runs all steps of a call. Not `async`, because an additional promise takes as long as sending the call. Runs `end`
   * only if a step throws here; otherwise `sendChecked`, `sendInTurn`, `finish` or `repeat` runs it.
   */
  function execute<Answer, Result>(
    { client, tool: name, args }: Call<Client>,
    how: ExecuteOptions,
    signal: RequestSignal,
    steps: CallSteps<Client, Answer, Result>,
  ): Promise<Result> {
    running += 1;
    try {
      const tool = steps.find(client, name);
      if (!isObject(args))
        throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName: client.name });
      if (signal.aborted) throw callCancelled(client.name, name, signal);
      const queue = how.isInTurn === true ? noQueue : calls;
      const run = new RunningCall(client, name, tool, args, how, signal, steps, queue);
      const checked = tool && checkArguments(client.name, tool, args, validator, signal);
      if (checked instanceof Promise) return sendChecked(run, checked);
      if (checked !== undefined) run.setChecked(checked);
      return queue.tryEnter(client.name) ? send(run, false) : sendInTurn(run);
    } catch (error) {
      end();
      return Promise.reject(error);
    }
  }

  function end(): void {
    running -= 1;
    if (running === 0) for (const resolve of onIdle) resolve();
  }

  async function sendChecked<Answer, Result>(
    run: RunningCall<Client, Answer, Result>,
    checking: Promise<CheckedArguments>,
  ): Promise<Result> {
    const { client, name, queue, signal } = run;
    let sent: Promise<Result>;
    try {
      run.setChecked(await checking);
      sent = queue.tryEnter(client.name) ? send(run, true) : sendInTurn(run);
    } catch (error) {
      end();
      throw signal.aborted ? callCancelled(client.name, name, signal) : error;
    }
    return sent;
  }

  function sendInTurn<Answer, Result>(run: RunningCall<Client, Answer, Result>): Promise<Result> {
    const { client, name, queue } = run;
    const signal = toAbortSignal(run.signal);
    return new Promise((resolve, reject) => {
      function fail(error: unknown): void {
        end();
        reject(error);
      }
      const waiting: WaitingCall = {
        signal,
        start() {
          try {
            send(run, true).then(resolve, reject);
          } catch (error) {
            fail(error);
          }
        },
        cancel: () => fail(callCancelled(client.name, name, signal)),
      };
      try {
        queue.wait(client.name, waiting);
      } catch (error) {
        fail(signal.aborted ? callCancelled(client.name, name, signal) : error);
      }
    });
  }

  /**
   * Sends a call that may start now.
   *
   * @param hasWaited Whether the call waited. The tool's definition may have changed meanwhile.
   */
  function send<Answer, Result>(run: RunningCall<Client, Answer, Result>, hasWaited: boolean): Promise<Result> {
    const reading = hasWaited ? run.client.upToDate?.("tools") : undefined;
    return reading === undefined ? sendNow(run, hasWaited) : sendAfter(run, reading);
  }

  /** Sends a call after the server's tools were read again, because the server reported a change while it waited. */
  async function sendAfter<Answer, Result>(
    run: RunningCall<Client, Answer, Result>,
    reading: Promise<void>,
  ): Promise<Result> {
    const { client, name, queue, signal } = run;
    let sent: Promise<Result>;
    try {
      await reading;
      if (signal.aborted) throw callCancelled(client.name, name, signal);
    } catch (error) {
      queue.leave(client.name);
      end();
      throw error;
    }
    try {
      sent = sendNow(run, true);
    } catch (error) {
      end();
      throw error;
    }
    return sent;
  }

  function sendNow<Answer, Result>(run: RunningCall<Client, Answer, Result>, hasWaited: boolean): Promise<Result> {
    const { client, name, tool, how, signal, steps } = run;
    const began = clock.now();
    const isGone = client.filteredCatalog === undefined;
    let answering: Promise<Answer>;
    try {
      how.onStart?.();
      if (hasWaited && !isGone && !isStill(client, name, tool)) throw toolChanged(client.name, name);
      answering = steps.send(client, run.args, optionsOf(tool, how, signal, how.total), name);
    } catch (error) {
      run.queue.leave(client.name);
      throw error;
    }
    return answering.then(
      (answer) => finish(run, answer),
      (error: unknown) => repeat(run, { error, isGone, began }),
    );
  }

  function finish<Answer, Result>(run: RunningCall<Client, Answer, Result>, answer: Answer): Result | Promise<Result> {
    const { client, tool, warnings, queue, steps } = run;
    queue.leave(client.name);
    let result: Result | Promise<Result> | undefined;
    try {
      result = steps.finish(answer, tool, warnings);
      return result;
    } finally {
      if (result instanceof Promise) result.then(end, end);
      else end();
    }
  }

  async function repeat<Answer, Result>(
    run: RunningCall<Client, Answer, Result>,
    failed: FirstFailure,
  ): Promise<Result> {
    let answer: Answer;
    try {
      answer = await sendAgain(run, failed);
    } catch (failure) {
      run.queue.leave(run.client.name);
      end();
      throw failure;
    }
    return finish(run, answer);
  }

  /**
   * Sends a failed call again if that is safe.
   *
   * @throws HostError `changed`, `cancelled`, or the error of the first call, of reconnecting or of the second call
   */
  async function sendAgain<Answer, Result>(
    { client, name, tool, args, how, signal, steps }: RunningCall<Client, Answer, Result>,
    { error, isGone, began }: FirstFailure,
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
        throw callCancelled(client.name, name, signal, "before it was sent again");
      });
    const next = await reconnect(client.name, toAbortSignal(signal)).catch((failure: unknown) => {
      throw failed.neverLeft ? failure : error;
    });
    if (!isStill(next, name, tool)) throw failed.neverLeft ? toolChanged(next.name, name) : error;
    const total = Math.max(how.total - (clock.now() - began), 1);
    return steps.send(next, args, optionsOf(tool, how, signal, total), name);
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

/** For calls that have waited for their turn elsewhere. */
const noQueue: RunningCallQueue = { tryEnter: () => true, wait() {}, leave() {} };

function asIs<T>(answer: T): T {
  return answer;
}
