/**
 * One attempt to connect over one transport: opens the channel and negotiates the protocol era. If either fails, closes
 * everything that was opened.
 */

import { createLegacySession } from "./eras/legacy-session.ts";
import { type EraPlan, negotiate } from "./eras/negotiate.ts";
import { WireError } from "./errors.ts";
import { onAbort } from "./rpc/abort.ts";
import type { OpenChannel } from "./rpc/channel.ts";
import { openRpc, type Rpc } from "./rpc/rpc.ts";
import { closedError, timeoutError, withStep } from "./rpc/rpc-errors.ts";
import { PausableTime, RequestClock, type TimeSource, uptime } from "./rpc/time.ts";
import type { Session } from "./session.ts";
import { createDiagnostics } from "./shapes/diagnostics.ts";
import { errorMessage } from "./shapes/text.ts";
import { openStdio } from "./stdio/stdio.ts";
import type { ConnectOptions, Target, WireLimits, WireTimes } from "./target.ts";

/** One transport, with the protocol eras to try over it. */
export interface Attempt {
  readonly transport: "stdio" | "http" | "sse";
  readonly eras: EraPlan;
}

/** The options of `connect` with all limits and times filled in. */
export interface ResolvedOptions {
  readonly options: ConnectOptions;
  readonly limits: WireLimits;
  readonly times: WireTimes;
}

/** Opens a session. If opening fails, no process and no connection stays open. */
export async function runAttempt(target: Target, attempt: Attempt, settings: ResolvedOptions): Promise<Session> {
  const began = uptime();
  const opened = await open(target, attempt, settings);
  if (!opened.isAlsoModern) return opened.session;
  /*
   * The server also supports the modern era, but only a new connection can use it. Fairlead opens a new one if the
   * server connected fast. For a slow server it would double the time to connect.
   */
  const probe = slowerProbe * settings.times.probe;
  if (uptime() - began > probe) return opened.session;
  await opened.session.close();
  return (await open(target, attempt, { ...settings, times: { ...settings.times, probe } })).session;
}

/** A server counts as slow if connecting took longer than `times.probe` multiplied by this number. */
const slowerProbe = 5;

async function open(
  target: Target,
  { transport, eras }: Attempt,
  { options: given, limits, times }: ResolvedOptions,
): Promise<{ readonly session: Session; readonly isAlsoModern: boolean }> {
  const options = { ...given, ...guardedCallbacks(given) };
  const { signal, auth, timeoutClock = auth && new PausableTime(options.time) } = options;
  const channel = await channelFor(target, transport, { ...options, timeoutClock, limits, times });
  let rpc: Rpc | undefined;
  try {
    const oneStream = transport === "stdio";
    const rpcOptions = { ...options, timeoutClock, limits, times, oneStream };
    // A network connection can hang while it opens, so it gets a timeout. A process starts at once.
    rpc =
      transport === "stdio"
        ? await openRpc(channel, rpcOptions, signal)
        : await openWithTimeout(times.connect, timeoutClock ?? options.time, signal, (opening) =>
            openRpc(channel, rpcOptions, opening),
          );
    const agreement = await negotiate({ rpc, options, times, signal, oneStream }, eras, transport);
    if (agreement.era === "legacy" || transport === "sse") {
      const isAlsoModern = agreement.era === "legacy" && agreement.isAlsoModern === true;
      return { session: createLegacySession(rpc, agreement.greeting, transport), isAlsoModern };
    }
    const { createModernSession } = await import("./eras/modern-session.ts");
    return { session: createModernSession(rpc, agreement.greeting, transport, options, limits), isAlsoModern: false };
  } catch (error) {
    await rpc?.close();
    throw withStep(causeOfEnd(error), transport === "stdio" ? "spawn" : "connect");
  }
}

/**
 * Replaces a `closed` error with the error that ended the connection, for example `exited`. Returns any other error
 * unchanged.
 */
function causeOfEnd(error: unknown): unknown {
  if (!(error instanceof WireError) || error.code !== "closed" || !(error.cause instanceof WireError)) return error;
  return closedError(error.evidence.step ?? "connect", error.cause);
}

/** The options of `connect` that a transport needs. */
export interface ChannelOptions
  extends Pick<
    ConnectOptions,
    "onStderr" | "processes" | "largeMessages" | "auth" | "proxyFor" | "background" | "ca" | "time" | "timeoutClock"
  > {
  readonly limits: WireLimits;
  readonly times: WireTimes;
}

/**
 * Returns the function that opens the channel of a transport. Imports HTTP code only when needed, so that stdio-only
 * programs start faster.
 */
export async function channelFor(
  target: Target,
  transport: Attempt["transport"],
  options: ChannelOptions,
): Promise<OpenChannel> {
  if (target.kind === "stdio") return openStdio(target, options);
  if (transport === "sse") {
    const { openSse } = await import("./http/sse.ts");
    return openSse(target, options);
  }
  const { openHttp } = await import("./http/http.ts");
  return openHttp(target, options);
}

async function openWithTimeout(
  timeout: number,
  time: TimeSource | undefined,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => Promise<Rpc>,
): Promise<Rpc> {
  const opening = new AbortController();
  const stopListening = onAbort(signal, () => opening.abort(signal?.reason));
  const clock = new RequestClock(() => {
    opening.abort();
    return Number.POSITIVE_INFINITY;
  }, time);
  clock.wakeBy(clock.now() + timeout);
  try {
    return await open(opening.signal);
  } catch (error) {
    throw opening.signal.aborted && !signal?.aborted ? timeoutError("connect", timeout) : error;
  } finally {
    clock.stop();
    stopListening();
  }
}

type Callbacks = Pick<ConnectOptions, "onDiagnostic" | "onStderr" | "onMessage">;

/** Returns the callbacks, wrapped so that they never throw. */
function guardedCallbacks({ onDiagnostic, onStderr, onMessage }: Callbacks): Callbacks {
  // If the diagnostic callback itself fails, there is no other place to report the error.
  const diagnostic = onDiagnostic && guarded(onDiagnostic, () => {});
  const diagnose = createDiagnostics((text) => diagnostic?.(text));
  const telling = (name: string) => (error: unknown) => diagnose(name, `${name} failed: ${errorMessage(error)}`);
  return {
    onDiagnostic: diagnostic,
    onStderr: onStderr && guarded(onStderr, telling("onStderr")),
    onMessage: onMessage && guarded(onMessage, telling("onMessage")),
  };
}

function guarded<A extends readonly unknown[]>(
  callback: (...args: A) => unknown,
  failed: (error: unknown) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      const result = callback(...args);
      // An async callback reports its error by rejecting its promise.
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
