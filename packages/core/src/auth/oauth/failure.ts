import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { toShellWord } from "../../text/shell-word.ts";

/** The steps of a sign-in, in their order. */
export type SignInStep =
  | "server metadata"
  | "authorization server metadata"
  | "client registration"
  | "redirect listener"
  | "browser"
  | "token request"
  | "device code";

/** Next step and cause of a failed sign-in. */
export interface FailureOptions {
  readonly next?: string;
  readonly cause?: unknown;
}

export type Fail = (step: SignInStep, why: string, options?: FailureOptions) => HostError;

/** Creates the `Fail` function for one server. The default next step is to sign in again. */
export function createFail(serverName: string, usualNext: string = authCommand(serverName)): Fail {
  return (step, why, { next = usualNext, cause } = {}) =>
    new HostError("auth_failed", `sign-in to "${serverName}" failed at the ${step} step: ${why}`, {
      serverName,
      next,
      ...(cause !== undefined && { cause }),
    });
}

/**
 * Turns a network failure of `work` into the error that `toError` creates. Does not change the error of a cancellation.
 */
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

/** The error of a sign-in that the person or the program cancelled. */
export function signInCancelled(serverName: string): HostError {
  return new HostError("cancelled", `sign-in to "${serverName}" cancelled`, { serverName });
}

export function authCommand(serverName: string): string {
  return `fairlead mcp auth ${toShellWord(serverName)}`;
}
