/** Facts about a request and its decision that `spine.ts` needs. Pure. */

import { HostError } from "../../errors.ts";
import type { RequestSignal } from "../../mcp/unless-aborted.ts";
import type { CarriedDecision, PolicyRequest } from "../../policy/confirmations.ts";
import { isChangedRule } from "../../policy/rules/built-in-rules.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import type { HostRequest } from "./host-request.ts";

/** A request without the members whose types depend on its result. */
export type AnyRequest = Omit<HostRequest<unknown, unknown>, "execute" | "present" | "outcomeOf">;

/** Whether the decision asks because the definition of a tool has changed. */
export function isChangedTool({ kind = "tool" }: PolicyRequest, { decision, rule }: CarriedDecision): boolean {
  return decision === "ask_user" && kind === "tool" && isChangedRule(rule);
}

/**
 * Whether the option `confirmed` of the request counts as the user's answer to this decision. It never does if the
 * definition of a tool has changed: the user must accept the change explicitly.
 */
export function isAnsweredInAdvance(
  { kind = "tool", confirmed = false, confirm }: AnyRequest,
  { rule }: CarriedDecision,
): boolean {
  if (isChangedRule(rule)) return kind !== "tool" && confirm === undefined && confirmed !== false;
  return confirmed !== false;
}

/** The error of a request that was cancelled before it was sent. */
export function cancelledRequest(
  { serverName, serverToolName, kind = "tool" }: PolicyRequest,
  { reason }: RequestSignal,
): HostError {
  const name = kind === "tool" ? `${serverName}.${serverToolName}` : serverToolName || `a request to "${serverName}"`;
  return new HostError("cancelled", `${name} was cancelled before it was sent`, { serverName, cause: reason });
}

/**
 * Whether the decision may change when the server is connected. Only a connected server shows whether a definition has
 * changed, and which annotations a tool has now.
 */
export function mayDifferOnceConnected({ kind = "tool" }: PolicyRequest, { rule }: CarriedDecision): boolean {
  return isChangedRule(rule) || (kind === "tool" && rule.annotations !== undefined);
}

/**
 * A key of the request. Two requests have the same key if their sender, their tool, prompt or resource, and their
 * arguments are equal.
 */
export function carryKey({ who, client, kind = "tool", serverName, serverToolName, args = {} }: PolicyRequest): string {
  return canonicalJson([who, client, kind, serverName, serverToolName, args]);
}
