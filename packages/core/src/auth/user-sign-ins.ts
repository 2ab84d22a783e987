/** The port by which a gateway of several people stores their sign-ins, instead of in the files of this machine. */

import { HostError } from "../errors.ts";
import type { SignInRequest } from "./auth-hook.ts";
import type { TokenKeeper } from "./oauth/token-keeper.ts";

/** The server of a sign-in. */
export interface SignInTarget {
  readonly serverName: string;
  /** Tokens must not go to any other server. */
  readonly serverUrl: string;
  /** The digest of the server definition, from `pinOf`. */
  readonly pin: string | undefined;
}

/** The sign-ins of one user. */
export interface UserSignIns {
  /** Returns the object that returns and renews the user's tokens of a server. */
  keeperOf(target: SignInTarget): TokenKeeper;
  /** Returns the error for a request that needs a sign-in. Fairlead cannot open the user's browser. */
  signInNeeded(target: SignInTarget, request: SignInRequest): SignInNeeded;
}

/** The user must sign in to the server first, on a page of the gateway. */
export class SignInNeeded extends HostError {
  /** The scopes that the server asks for. Empty: those of its metadata. */
  readonly scopes: readonly string[];

  constructor(serverName: string, next: string, scopes: readonly string[] = []) {
    const what = scopes.length === 0 ? "requires sign-in" : `needs more scopes: ${scopes.join(" ")}`;
    super("auth_required", `"${serverName}" ${what}`, { serverName, next });
    this.scopes = scopes;
  }

  /** Finds the error among the causes of another one. */
  static in(error: unknown): SignInNeeded | undefined {
    for (let cause = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof SignInNeeded) return cause;
    return undefined;
  }
}
