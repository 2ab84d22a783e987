/** Who sends an HTTP request, and whose host answers it: the port by which one machine and a team differ. */

import type { HttpAdmitted, HttpEntry, HttpRefusal } from "@fairlead/wire/serve";
import type { GatewayClient } from "./gateway-client.ts";
import type { ClientTokens } from "./tokens/client-tokens.ts";
import type { Workspace } from "./workspaces.ts";

/** The client of an accepted request. */
export interface AdmittedClient {
  readonly client: Pick<GatewayClient, "name" | "servers" | "tools">;
  /** In a team, its `principal` is the user. */
  readonly workspace: Workspace;
  /** Refuses MCP methods that the client may not use. */
  readonly refusal?: HttpAdmitted<unknown>["refusal"];
}

/**
 * Accepts or refuses an HTTP request by its path and headers, before its body is read. Only called for `/mcp` and
 * `/mcp/<server>`.
 */
export type Admit = (entry: HttpEntry) => AdmittedClient | HttpRefusal | Promise<AdmittedClient | HttpRefusal>;

/** Accepts clients of this machine by their bearer tokens. The name of the client is that of its token. */
export function admitByToken(
  tokens: ClientTokens,
  workspace: Workspace,
  limits?: Pick<GatewayClient, "servers" | "tools">,
): Admit {
  return ({ headers: { authorization } }) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
    const name = token === undefined ? undefined : tokens.clientOf(token);
    if (name === undefined) return { status: 401, message: withoutToken(authorization) };
    return { client: { ...limits, name }, workspace };
  };
}

/** Accepts every program of this machine, under one name. */
export function admitEverybody(client: AdmittedClient["client"], workspace: Workspace): Admit {
  return () => ({ client, workspace });
}

/** Says what to do about a request whose token is missing or unknown. Does not say whether a token ever existed. */
function withoutToken(authorization: string | undefined): string {
  const problem =
    authorization === undefined
      ? "the request has no header Authorization: Bearer TOKEN"
      : "Fairlead does not know this token, or has revoked it";
  return `${problem}; to write a new token into a client's settings: fairlead connect CLIENT --http; to print one: fairlead connect CLIENT --http --print`;
}
