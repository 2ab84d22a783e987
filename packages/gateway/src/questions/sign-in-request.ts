/** Asks the user of a team to sign in to a server, on a page of the gateway. */

import type { SignInNeeded } from "@fairlead/core/auth";
import type { JsonObject } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { toolError } from "../bridge/adapt-result.ts";
import { rpcCodes, rpcError } from "../bridge/rpc-error.ts";
import type { Principal } from "../workspaces.ts";
import type { ClientCall } from "./client-call.ts";
import { askToOpen } from "./open-page.ts";

/** How the users of a team sign in to servers. */
export interface SignInPort {
  /** The address of the page for this user. Undefined if this user cannot log in with a browser. */
  linkFor(request: SignInLink): string | undefined;
  isSignedIn(principal: Principal, server: string): Promise<boolean>;
  /**
   * Resolves when the user has signed in, but at the latest after some time.
   *
   * @param since When the user was asked, in milliseconds since 1970. An older sign-in was not enough.
   */
  waitFor(principal: Principal, server: string, since: number, signal: AbortSignal): Promise<void>;
}

/** What the page shows and does. */
export interface SignInLink {
  readonly principal: Principal;
  /** The client's name. */
  readonly client: string;
  readonly server: string;
  /** The scopes for which the server asks. Empty: those of its metadata. */
  readonly scopes: readonly string[];
}

/** The key of the gateway's own question in `inputRequests`. */
const questionKey = "fairlead_sign_in";

/**
 * Returns the result that asks the client's user to sign in, in the form that the client supports.
 *
 * @throws WireError with the JSON-RPC error that does
 */
export function askForSignIn(
  call: ClientCall,
  method: string,
  { serverName = "", message, next = "" }: SignInNeeded,
  link: string | undefined,
): JsonObject {
  const isTool = method === "tools/call";
  if (link === undefined) {
    if (isTool) return toolError(`${message}\nNext: ${next}`, call.era);
    throw rpcError(rpcCodes.refused, message, { reason: "auth_required", server: serverName, next });
  }
  return askToOpen(call, method, {
    key: questionKey,
    link,
    words: `${message}: open the address and sign in, then the request can be sent again`,
    forModel: `${message}. Ask the user to open this address, then call again`,
    reason: "auth_required",
    server: serverName,
  });
}

/** Whether the client's user has agreed to open the page. */
export function hasAgreed(inputResponses: unknown): boolean {
  return member(member(inputResponses, questionKey), "action") === "accept";
}
