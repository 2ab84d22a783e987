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

/** What the user can do (`next`), and the error that caused the failure. */
export interface FailureOptions {
  readonly next?: string;
  readonly cause?: unknown;
}

/** Returns the error `auth_failed` for a failed step. `why` ends the message. */
export type Fail = (step: SignInStep, why: string, options?: FailureOptions) => HostError;

/** Creates the `Fail` function of one server. Without `next`, the advice is `usualNext` (default: sign in again). */
export function createFail(serverName: string, usualNext: string = authCommand(serverName)): Fail {
  return (step, why, { next = usualNext, cause } = {}) =>
    new HostError("auth_failed", `sign-in to "${serverName}" failed at the ${step} step: ${why}`, {
      serverName,
      next,
      ...(cause !== undefined && { cause }),
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
