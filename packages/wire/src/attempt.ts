/** One attempt to reach a server: opens a channel in time, settles the era on it, and leaves nothing behind if it fails. */

import { createLegacySession } from "./eras/legacy-session.ts";
import { type EraPlan, negotiate } from "./eras/negotiate.ts";
import { WireError } from "./errors.ts";
import { onAbort } from "./rpc/abort.ts";
import type { OpenChannel } from "./rpc/channel.ts";
import { createRequestClock, type RequestClock } from "./rpc/clock.ts";
import { guardedCallbacks } from "./rpc/guarded-callbacks.ts";
import { openRpc, type Rpc } from "./rpc/rpc.ts";
import { closedError, timeoutError, withStep } from "./rpc/rpc-errors.ts";
import type { Session } from "./session.ts";
import { openStdio } from "./stdio/stdio.ts";
import type { AuthHook, ConnectOptions, Target, WireLimits, WireTimes } from "./target.ts";

export interface Attempt {
  readonly transport: "stdio" | "http" | "sse";
  readonly eras: EraPlan;
}

export interface ResolvedOptions {
  readonly options: ConnectOptions;
  readonly limits: WireLimits;
  readonly times: WireTimes;
}

type Patience = Pick<RequestClock, "pause" | "resume">;

export async function runAttempt(
  target: Target,
  { transport, eras }: Attempt,
  { options: given, limits, times }: ResolvedOptions,
): Promise<Session> {
  const options = { ...given, ...guardedCallbacks(given) };
  const { signal } = options;
  const running: { clock?: Patience } = {};
  const auth = options.auth && patientAuth(options.auth, running);
  const open = await channelFor(target, transport, auth === undefined ? options : { ...options, auth }, {
    limits,
    times,
  });
  let rpc: Rpc | undefined;
  try {
    const { onRequest, onNotification, onDiagnostic, onMessage, time } = options;
    const oneStream = transport === "stdio";
    const rpcOptions = { onRequest, onNotification, onDiagnostic, onMessage, limits, times, oneStream, time };
    // A process starts or does not; only the network keeps us waiting.
    rpc =
      transport === "stdio"
        ? await openRpc(open, rpcOptions, signal)
        : await openInTime(running, { patience: times.connect, time }, signal, (opening) =>
            openRpc(open, rpcOptions, opening),
          );
    running.clock = rpc.clock;
    const agreement = await negotiate({ rpc, options, times, signal, oneStream }, eras, transport);
    if (agreement.era === "legacy" || transport === "sse")
      return createLegacySession(rpc, agreement.greeting, transport);
    const { createModernSession } = await import("./eras/modern-session.ts");
    return createModernSession({ ...agreement, rpc, transport, options, limits });
  } catch (error) {
    await rpc?.close();
    throw withStep(causeOfEnd(error), transport === "stdio" ? "spawn" : "connect");
  }
}

/** The server may go between two steps; then why it went says more than that the next step was too late. */
function causeOfEnd(error: unknown): unknown {
  if (!(error instanceof WireError) || error.code !== "closed" || !(error.cause instanceof WireError)) return error;
  return closedError(error.evidence.step ?? "connect", error.cause);
}

/** The network is loaded when it is used; of stdio only what Node brings for it is heavy, and that waits in `process.ts`. */
async function channelFor(
  target: Target,
  transport: Attempt["transport"],
  { onStderr, processes: keeper, auth, proxyFor, ca, time }: ConnectOptions,
  { limits, times }: Omit<ResolvedOptions, "options">,
): Promise<OpenChannel> {
  if (target.kind === "stdio") return openStdio(target, { onStderr, processes: keeper, limits, times });
  const network = { limits, times, auth, proxyFor, ca, time };
  if (transport === "sse") {
    const { openSse } = await import("./http/sse.ts");
    return openSse(target, network);
  }
  const { openHttp } = await import("./http/http.ts");
  return openHttp(target, network);
}

/** A person who signs in is not a server that is slow: whatever clock is running stands still meanwhile. */
function patientAuth(auth: AuthHook, running: { readonly clock?: Patience }): AuthHook {
  return {
    headers: (request) => auth.headers(request),
    async challenged(challenge, signal) {
      const { clock } = running;
      clock?.pause();
      try {
        return await auth.challenged(challenge, signal);
      } finally {
        clock?.resume();
      }
    },
  };
}

async function openInTime(
  running: { clock?: Patience },
  { patience, time }: { readonly patience: number; readonly time: ConnectOptions["time"] },
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => Promise<Rpc>,
): Promise<Rpc> {
  const opening = new AbortController();
  const stopListening = onAbort(signal, () => opening.abort(signal?.reason));
  const clock = createRequestClock(() => {
    opening.abort();
    return Number.POSITIVE_INFINITY;
  }, time);
  running.clock = clock;
  clock.wakeBy(clock.now() + patience);
  try {
    return await open(opening.signal);
  } catch (error) {
    throw opening.signal.aborted && !signal?.aborted ? timeoutError("connect", patience) : error;
  } finally {
    clock.stop();
    stopListening();
  }
}
