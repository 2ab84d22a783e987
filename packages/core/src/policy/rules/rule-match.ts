/** Matches a rule with a request: server, tool, kind, arguments, annotations, mode and presence of a terminal. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { canonicalJson } from "../../text/canonical-json.ts";
import type { CheckRequest, PolicyRule } from "./rule.ts";

/** Creates a matcher of one request for many rules. Values that several rules need are computed once. */
export function createMatcher(request: CheckRequest): (rule: PolicyRule) => boolean {
  let json: string | undefined;
  return (rule) => {
    if (!matchesPair(rule, request) || !matchesCircumstances(rule, request)) return false;
    if (rule.argsPattern === undefined) return true;
    if (request.args === undefined) return false;
    json ??= canonicalJson(request.args);
    return rule.argsPattern.matches(json);
  };
}

function matchesPair(rule: PolicyRule, { server, tool, kind = "tool" }: CheckRequest): boolean {
  if (rule.kind === undefined ? rule.tool !== undefined && kind !== "tool" : rule.kind !== kind) return false;
  return (rule.server?.matches(server) ?? true) && (rule.tool?.matches(tool) ?? true);
}

function matchesCircumstances(rule: PolicyRule, request: CheckRequest): boolean {
  if (rule.modes !== undefined && !rule.modes.includes(request.mode)) return false;
  if (rule.interactive !== undefined && rule.interactive !== request.interactive) return false;
  for (const [name, wanted] of rule.annotations ?? [])
    if (!valuesOf(name, rule, request).includes(wanted)) return false;
  return true;
}

/** The protocol's defaults for missing annotations. They also apply to a server whose annotations are not trusted. */
const worstCase: ReadonlyMap<string, unknown> = new Map([
  ["readOnlyHint", false],
  ["destructiveHint", true],
  ["idempotentHint", false],
  ["openWorldHint", true],
]);

/** Untrusted annotations can make a rule match that denies or asks, never one that allows. */
function valuesOf(
  name: string,
  { decision }: PolicyRule,
  { annotations = {}, trustsAnnotations = false }: CheckRequest,
): readonly unknown[] {
  const claimed = claimOf(annotations, name);
  const worst = worstCase.get(name);
  if (trustsAnnotations) return [claimed ?? worst];
  return decision === "allow" ? [worst] : [claimed, worst];
}

function claimOf(annotations: JsonObject, name: string): unknown {
  return Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}
