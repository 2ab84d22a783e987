/** From a target to a session: what can be tried, in which order, and when the next attempt makes sense. */

import { type Attempt, type ResolvedOptions, runAttempt } from "./attempt.ts";
import { modernErrorCodes } from "./eras/modern-envelope.ts";
import type { EraPlan } from "./eras/negotiate.ts";
import { WireError } from "./errors.ts";
import { cancelledError, toWireError } from "./rpc/rpc-errors.ts";
import type { Session } from "./session.ts";
import { type ConnectOptions, defaultLimits, defaultTimes, type Target } from "./target.ts";

export async function connect(target: Target, options: ConnectOptions): Promise<Session> {
  const settings: ResolvedOptions = {
    options,
    limits: options.limits === undefined ? defaultLimits : { ...defaultLimits, ...options.limits },
    times: options.times === undefined ? defaultTimes : { ...defaultTimes, ...options.times },
  };
  const { signal } = options;
  if (isAborted(signal)) throw cancelledError("connect", signal?.reason, true);
  try {
    const session = await tryInTurn(attemptsFor(target, options.era ?? "auto"), target, settings);
    if (!isAborted(signal)) return session;
    await session.close();
    throw cancelledError("connect", signal?.reason, false);
  } catch (error) {
    throw isAborted(signal) ? cancelledError("connect", signal?.reason, false) : error;
  }
}

/** A function, because it is asked before and after something that takes time. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** What to try, in order; a later attempt is made only when the earlier one failed in a way that it answers. */
function attemptsFor(target: Target, era: NonNullable<ConnectOptions["era"]>): readonly Attempt[] {
  const eras: EraPlan = typeof era === "string" ? era : `${era.era}-first`;
  switch (target.kind) {
    case "stdio": {
      const again: Attempt = { transport: "stdio", eras: "legacy" };
      const mayProbe = eras === "auto" || eras === "modern-first";
      return [{ transport: "stdio", eras }, ...(mayProbe ? [again] : [])];
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

async function tryInTurn(attempts: readonly Attempt[], target: Target, settings: ResolvedOptions): Promise<Session> {
  let told: WireError | undefined;
  for (const attempt of attempts) {
    try {
      return await runAttempt(target, attempt, settings);
    } catch (error) {
      const failure = toWireError(error);
      // Why a detour failed explains less than why it was taken, unless somebody has to act on it.
      const isDetour = attempt.transport !== attempts[0]?.transport;
      if (told === undefined || !isDetour || isAboutUs(failure)) told = failure;
      if (!leadsOn(failure, attempt)) break;
    }
  }
  throw told ?? new WireError("unreachable", "there is no way to reach this server");
}

/** Whether a failure says that this way was the wrong one, rather than that the server is ill or wants something. */
function leadsOn({ code, evidence }: WireError, { transport }: Attempt): boolean {
  // Some servers cannot live with a question that they do not know, even if they still answer it.
  if (transport === "stdio") return code === "exited";
  if (evidence.rpc !== undefined && modernErrorCodes.has(evidence.rpc.code)) return false;
  return evidence.httpStatus !== undefined && notSpoken.has(evidence.httpStatus);
}

const notSpoken: ReadonlySet<number> = new Set([400, 404, 405, 406, 415]);

/** A request to sign in, or to stop, is an answer of its own. */
function isAboutUs({ code }: WireError): boolean {
  return code === "unauthorized" || code === "cancelled";
}
