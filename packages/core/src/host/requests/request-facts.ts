/** Helper functions of `spine.ts` about a request and its decision. Pure. */

import { HostError } from "../../errors.ts";
import type { RequestSignal } from "../../mcp/unless-aborted.ts";
import type { CarriedDecision, PolicyRequest } from "../../policy/confirmations.ts";
import { isChangedRule } from "../../policy/rules/built-in-rules.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import type { HostRequest } from "./host-request.ts";

/** A request without the members that depend on the type of its result. */
export type AnyRequest = Omit<HostRequest<unknown, unknown>, "execute" | "present" | "outcomeOf">;

/** Whether the user must be asked because the tool's definition has changed. */
export function isChangedTool({ kind = "tool" }: PolicyRequest, { decision, rule }: CarriedDecision): boolean {
  return decision === "ask_user" && kind === "tool" && isChangedRule(rule);
}

/**
 * Whether the request's option `confirmed` answers this decision. It does not for a changed tool: the user must accept
 * the change explicitly. For a changed prompt, it does only if the request has no `confirm`.
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
 * Whether the decision may change when the server is connected. A connected server shows whether a definition or an
 * annotation has changed.
 */
export function mayDifferOnceConnected({ kind = "tool" }: PolicyRequest, { rule }: CarriedDecision): boolean {
  return isChangedRule(rule) || (kind === "tool" && rule.annotations !== undefined);
}

/**
 * A key for requests. Two requests have the same key if sender, tool (or prompt or resource) and arguments are equal.
 */
export function carryKey({ who, client, kind = "tool", serverName, serverToolName, args = {} }: PolicyRequest): string {
  return canonicalJson([who, client, kind, serverName, serverToolName, args]);
}
