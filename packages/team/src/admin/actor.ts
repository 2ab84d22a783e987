/** Who administers a team, and with which roles. */

import { HostError } from "@fairlead/core";
import { type Caller, type Role, roles } from "../auth/caller.ts";

export interface Actor {
  /** The user of a token, the owner of an API key, or `operator:NAME` for somebody with access to the database. */
  readonly principal: string;
  readonly roles: ReadonlySet<Role>;
}

/** Somebody who can read the system settings and reach PostgreSQL, and so can do everything anyway. */
export function databaseOperator(name: string): Actor {
  return { principal: `operator:${name}`, roles: new Set(roles) };
}

export function callerAsActor({ owner, roles: own }: Pick<Caller, "owner" | "roles">): Actor {
  return { principal: owner.principal, roles: own };
}

/**
 * Returns the role that permits an action.
 *
 * @throws HostError `denied` if the actor has none of these roles
 */
export function roleFor(actor: Actor, action: string, ...needed: readonly Role[]): Role {
  const found = needed.find((role) => actor.roles.has(role));
  if (found !== undefined) return found;
  throw new HostError("denied", `${action} denied: it needs the role ${needed.join(" or ")}`, {
    next: "Ask an administrator. Roles come from the groups in fairlead.team.auth.issuers[].roles.",
  });
}
