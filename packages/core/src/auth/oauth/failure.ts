/** How a sign-in that fails is told: which server, which step, why, and what to type next. */

import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { toShellWord } from "../../text/shell-word.ts";

/** In the order in which they come. */
export type SignInStep =
  | "the server's metadata"
  | "the authorization server's metadata"
  | "the client registration"
  | "the listener"
  | "the browser"
  | "the token request"
  | "the device code";

export interface FailureOptions {
  readonly next?: string;
  readonly cause?: unknown;
}

export type Fail = (step: SignInStep, why: string, options?: FailureOptions) => HostError;

export function createFail(serverName: string): Fail {
  return (step, why, { next = authCommand(serverName), cause } = {}) =>
    new HostError("auth_failed", `the sign-in to "${serverName}" ended at ${step}: ${why}`, {
      serverName,
      next,
      ...(cause !== undefined && { cause }),
    });
}

/** What went wrong on the network belongs to the step that wanted it; what was called off stays that. */
export async function during<T>(work: Promise<T>, toError: (words: string, cause: unknown) => HostError): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof HostError && cause.code === "cancelled") throw cause;
    throw toError(errorMessage(cause), cause);
  }
}

export function calledOff(serverName: string): HostError {
  return new HostError("cancelled", `the sign-in to "${serverName}" was called off`, { serverName });
}

export function authCommand(serverName: string): string {
  return `fairlead mcp auth ${toShellWord(serverName)}`;
}
