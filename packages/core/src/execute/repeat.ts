/** Decides when a failed request may be sent again: a read once, a call never if it could take effect twice. */

import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import { type Clock, sleep } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import { type ErrorCode, HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";

/** What a gateway client's request has of its own, besides its parameters. */
export type ClientOptions = Pick<
  McpRequestOptions,
  "onProgress" | "meta" | "capabilities" | "logLevel" | "onNotification" | "answer" | "input" | "tasks" | "beforeSend"
>;

/**
 * The options for sending a client's request. With `owner`, what the server asks meanwhile goes to the same client.
 * Lists every member, because object spreads are slow.
 */
export function requestOptions(
  { signal, timeout, total, asTask, meta: traced }: McpRequestOptions,
  { onProgress, meta, capabilities, logLevel, onNotification, answer, input, tasks, beforeSend }: ClientOptions,
  owner: string,
): McpRequestOptions {
  return {
    signal,
    timeout,
    total,
    asTask,
    onProgress,
    meta: traced === undefined ? meta : { ...meta, ...traced },
    capabilities,
    logLevel,
    onNotification,
    answer,
    input,
    tasks,
    owner,
    beforeSend,
  };
}

/** The signal and the time limits of one read. */
export interface ReadTimes {
  readonly signal: AbortSignal;
  /**
   * The longest time without a response or progress, in milliseconds. If a busy server asks for a longer pause, the
   * request fails.
   */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  /** Members of `_meta`: the trace context of the request. */
  readonly meta?: JsonObject | undefined;
}

/**
 * Sends the request. Repeats it once after a lost connection, or after the pause that a busy server (HTTP 429 or 503)
 * asks for.
 */
export async function sendRead<Client, T>(
  client: Client,
  send: (client: Client, times: ReadTimes) => Promise<T>,
  times: ReadTimes,
  {
    reconnect,
    isStill,
    clock,
  }: {
    /** Connects the server again if its connection is lost. */
    readonly reconnect: (signal: AbortSignal) => Promise<Client>;
    /** Whether the server and the requested resource or prompt have not changed since the request was allowed. */
    readonly isStill: (client: Client) => boolean;
    readonly clock: Clock;
  },
): Promise<T> {
  const began = clock.now();
  const left = (): number => times.total - (clock.now() - began);
  try {
    return await send(client, times);
  } catch (error) {
    if (!(error instanceof HostError) || times.signal.aborted) throw error;
    const pause = pauseAfter(error);
    if (pause === undefined ? !isLost(error) : pause >= Math.min(times.timeout, left())) throw error;
    if (pause !== undefined)
      await sleep(clock, pause, times.signal).catch(() => {
        throw new HostError("cancelled", `${error.message}; the request was cancelled before it was sent again`, {
          cause: error,
        });
      });
    const next = await reconnect(times.signal).catch(() => {
      throw error;
    });
    // If the server, resource or prompt has changed, the decision that allowed the request no longer applies.
    if (!isStill(next)) throw error;
    return send(next, { ...times, total: Math.max(left(), 1) });
  }
}

function isLost(error: HostError): boolean {
  return (
    error.code === "lost" || (neverLeft(error) && (error.code === "unreachable" || error.code === "server_exited"))
  );
}

/** Facts about a failed call that decide whether it may be sent again. */
interface FailedCall {
  readonly code: ErrorCode;
  /** True if the call certainly did not reach the server. */
  readonly neverLeft: boolean;
  /** The tool's annotations, as the server claims them. */
  readonly annotations: JsonObject | undefined;
  readonly trustAnnotations: boolean;
  /** Milliseconds that a busy server asks Fairlead to wait; undefined if the server did not ask. */
  readonly pause: number | undefined;
  /** Milliseconds that the call may still take. */
  readonly timeLeft: number;
}

/** Whether a failed call may be sent again without asking the user. Never true if the call could take effect twice. */
export function mayRepeat(failed: FailedCall): boolean {
  const { code, neverLeft, annotations, trustAnnotations, pause, timeLeft } = failed;
  if (pause !== undefined && pause >= timeLeft) return false;
  // Sending again helps only if the connection failed. After any other error, the call would fail again.
  if (neverLeft) return code === "unreachable" || code === "server_exited";
  return code === "lost" && trustAnnotations && isHarmless(annotations);
}

function isHarmless(annotations: JsonObject = {}): boolean {
  return annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
}

/** The error of a cancelled call. `when` ends the message, as in "files.read was cancelled before it was sent". */
export function callCancelled(
  serverName: string,
  tool: string,
  { reason }: AbortSignal,
  when = "before it was sent",
): HostError {
  const message = `${serverName}.${tool} was cancelled ${when}`;
  return new HostError("cancelled", message, { serverName, cause: reason });
}

/** The error of a call that was not sent, because the tool's definition changed while the call waited. */
export function toolChanged(serverName: string, tool: string): HostError {
  const message = `${serverName}.${tool} was not called: its definition changed while the call waited`;
  return new HostError("changed", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}
