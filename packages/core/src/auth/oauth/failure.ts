/** The errors of a sign-in, each with the step that failed and the advice for the user. */

import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { toShellWord } from "../../text/shell-word.ts";

/** The steps of a sign-in. Error messages contain their names. */
export type SignInStep =
  | "server metadata"
  | "authorization server metadata"
  | "client registration"
  | "redirect listener"
  | "browser"
  | "token request"
  | "device code";

/**
 * Returns the error `auth_failed` for a failed step. `why` ends the message. `next` says what the user can do, `cause` is
 * the error that caused the failure.
 */
export type Fail = (
  step: SignInStep,
  why: string,
  options?: { readonly next?: string; readonly cause?: unknown },
) => HostError;

/** Creates the `Fail` function of one server. Without `next`, the advice is `usualNext` (default: sign in again). */
export function createFail(serverName: string, usualNext: string = authCommand(serverName)): Fail {
  return (step, why, { next = usualNext, cause } = {}) =>
    new HostError("auth_failed", `sign-in to "${serverName}" failed at the ${step} step: ${why}`, {
      serverName,
      next,
      cause,
    });
}

/** If `work` rejects, rejects with the error from `toError`. Passes on a cancellation unchanged. */
export async function explainFailure<T>(
  work: Promise<T>,
  toError: (words: string, cause: unknown) => HostError,
): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof HostError && cause.code === "cancelled") throw cause;
    throw toError(errorMessage(cause), cause);
  }
}

/** Returns the error `cancelled` for a sign-in. */
export function signInCancelled(serverName: string): HostError {
  return new HostError("cancelled", `sign-in to "${serverName}" cancelled`, { serverName });
}

/** Returns the command that signs in to a server, quoted for the shell. */
export function authCommand(serverName: string): string {
  return `fairlead mcp auth ${toShellWord(serverName)}`;
}

/** A smaller difference (in milliseconds) is ignored, because rounding and the network cause it. */
const tolerance = 30_000;

/**
 * Returns how far this machine's clock is ahead of the server's, in milliseconds. Undefined if the date is invalid.
 *
 * @param date The response's header `Date`.
 * @param at This machine's time when the server answered, in milliseconds since 1970.
 */
export function clockLeadOf(date: string | null | undefined, at: number): number | undefined {
  const theirs = Date.parse(date ?? "");
  // `Date` has no fractions of a second, so on average half a second is missing.
  return Number.isNaN(theirs) ? undefined : at - (theirs + 500);
}

/**
 * Returns the cause and the advice for an error message. Undefined if the clocks agree. `now` is this machine's time.
 */
export function clockProblem(
  lead: number | undefined,
  now: number,
): { readonly why: string; readonly next: string } | undefined {
  if (lead === undefined || Math.abs(lead) <= tolerance) return undefined;
  const theirs = new Date(now - lead).toISOString();
  return {
    why: `this machine's clock is ${durationWords(Math.abs(lead))} ${lead > 0 ? "ahead" : "behind"} (the server's clock shows ${theirs})`,
    next: "Set this machine's clock, for example with NTP, then try again.",
  };
}

/** Returns a duration as text (`45 s`, `7 min` or `3 h`). */
export function durationWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
