/** Who administers a team, and with which roles. */

import { HostError } from "@fairlead/core";
import { namePattern } from "@fairlead/core/policy";
import { type Caller, type Role, roles } from "../auth/caller.ts";

export interface Actor {
  /** The user of a token, the owner of an API key, or `operator:NAME` for an operator with access to the database. */
  readonly principal: string;
  readonly roles: ReadonlySet<Role>;
  readonly groups: readonly string[];
  /** Whether the actor has access to the database, and so can answer every question. */
  readonly isOperator?: boolean;
}

/** A person who can read the system settings and reach PostgreSQL, and so can do everything anyway. */
export function databaseOperator(name: string): Actor {
  return { principal: `operator:${name}`, roles: new Set(roles), groups: [], isOperator: true };
}

export function callerAsActor({ owner, roles: own, groups }: Pick<Caller, "owner" | "roles" | "groups">): Actor {
  return { principal: owner.principal, roles: own, groups };
}

/**
 * Whether this person may answer a question about a request. If the rule names approvers, one of them must, and never the user
 * who sends the request. Otherwise the user answers.
 */
export function mayAnswer(
  { principal, groups, isOperator = false }: Omit<Actor, "roles">,
  approver: string | undefined,
  sender: string,
): boolean {
  if (isOperator) return true;
  if (approver === undefined) return principal === sender;
  const pattern = namePattern(approver);
  return principal !== sender && groups.some((group) => pattern.matches(group));
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
