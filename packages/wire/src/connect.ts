/** `connect`: tries the transports and protocol eras of a target in order until one of them gives a session. */

import { type Attempt, type ResolvedOptions, runAttempt } from "./attempt.ts";
import type { EraPlan } from "./eras/negotiate.ts";
import { modernErrorCodes } from "./eras/protocol.ts";
import { WireError } from "./errors.ts";
import { cancelledError, toWireError } from "./rpc/rpc-errors.ts";
import type { Session } from "./session.ts";
import { type ConnectOptions, defaultLimits, defaultTimes, type Target } from "./target.ts";

/**
 * Connects to an MCP server.
 *
 * @throws WireError if the server cannot be reached, or the signal is aborted.
 * @example
 * ```ts
 * const session = await connect(target, { clientInfo: { name: "my-host", version: "1.0.0" } });
 * const { items } = await listAll(session, "tools");
 * await session.close();
 * ```
 */
export async function connect(target: Target, options: ConnectOptions): Promise<Session> {
  const settings: ResolvedOptions = {
    options,
    limits: options.limits === undefined ? defaultLimits : { ...defaultLimits, ...options.limits },
    times: options.times === undefined ? defaultTimes : { ...defaultTimes, ...options.times },
  };
  const { signal } = options;
  if (isAborted(signal)) throw cancelledError("connect", signal?.reason, true);
  try {
    const session = await tryInOrder(attemptsFor(target, options.era ?? "auto"), target, settings);
    if (!isAborted(signal)) return session;
    await session.close();
    throw cancelledError("connect", signal?.reason, false);
  } catch (error) {
    throw isAborted(signal) ? cancelledError("connect", signal?.reason, false) : error;
  }
}

/** A function, because TypeScript would assume that a second read of `signal.aborted` gives the same value. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function attemptsFor(target: Target, era: NonNullable<ConnectOptions["era"]>): readonly Attempt[] {
  const eras: EraPlan = typeof era === "string" ? era : `${era.era}-first`;
  switch (target.kind) {
    case "stdio": {
      const first: Attempt = { transport: "stdio", eras };
      const mayProbe = eras === "auto" || eras === "modern-first";
      return mayProbe ? [first, { transport: "stdio", eras: "legacy" }] : [first];
    }
    case "http":
      return [{ transport: "http", eras }];
    case "sse":
      return [{ transport: "sse", eras: "legacy" }];
    case "http-or-sse": {
      const sse: Attempt = { transport: "sse", eras: "legacy" };
      if (typeof era === "object" && era.transport === "sse") return [sse, { transport: "http", eras: "auto" }];
      return eras === "modern" ? [{ transport: "http", eras }] : [{ transport: "http", eras }, sse];
    }
  }
}

async function tryInOrder(attempts: readonly Attempt[], target: Target, settings: ResolvedOptions): Promise<Session> {
  let reported: WireError | undefined;
  for (const attempt of attempts) {
    try {
      return await runAttempt(target, attempt, settings);
    } catch (error) {
      const failure = toWireError(error);
      /*
       * `connect` reports the failure of the first transport, because that is the transport to repair. It reports the
       * failure of a fallback transport only if the user must sign in there or has cancelled.
       */
      const isFallback = attempt.transport !== attempts[0]?.transport;
      if (reported === undefined || !isFallback || needsCaller(failure)) reported = failure;
      if (!isWorthNextAttempt(failure, attempt)) break;
    }
  }
  throw reported ?? new WireError("unreachable", "no transport is left to try");
}

/** True if the server seems not to support this protocol era or transport, so another attempt may succeed. */
function isWorthNextAttempt({ code, evidence }: WireError, { transport }: Attempt): boolean {
  // Some stdio servers exit on a method that they do not know, so an exit can mean the wrong protocol era.
  if (transport === "stdio") return code === "exited";
  if (evidence.rpc !== undefined && modernErrorCodes.has(evidence.rpc.code)) return false;
  return evidence.httpStatus !== undefined && otherProtocolStatuses.has(evidence.httpStatus);
}

const otherProtocolStatuses: ReadonlySet<number> = new Set([400, 404, 405, 406, 415]);

function needsCaller({ code }: WireError): boolean {
  return code === "unauthorized" || code === "cancelled";
}
