/** Finds the stronger rules that decide in place of a rule that was just written. */

import type { Configuration } from "../trust/configuration.ts";
import { PolicyEngine } from "./policy-engine.ts";
import { loadPolicies } from "./rules/load-policies.ts";
import type { PolicyRule, RequestingUser, RequestKind } from "./rules/rule.ts";
import type { WrittenRule } from "./rules/write-rule.ts";

/** A request that a rule is about. */
export interface RuledRequest {
  readonly server: string;
  readonly tool: string;
  readonly kind?: RequestKind | undefined;
  readonly client?: string | undefined;
  readonly principal?: RequestingUser | undefined;
}

/** A request, and the stronger rule that decides about it. With an `argsPattern`, the rule decides for some calls only. */
export interface OverruledRequest extends RuledRequest {
  readonly rule: PolicyRule;
}

/** Finds the rules that are stronger than the written rule, including rules that apply only to some arguments. */
export async function overruledBy<T extends RuledRequest>(
  written: WrittenRule,
  requests: readonly T[],
  configuration: Configuration,
): Promise<readonly (T & OverruledRequest)[]> {
  const { rules } = await loadPolicies(configuration);
  // Without its argument pattern, a rule is compared for all arguments.
  const compared = new Map<PolicyRule, PolicyRule>(rules.map((rule) => [{ ...rule, argsPattern: undefined }, rule]));
  const engine = new PolicyEngine({ rules: [...compared.keys()] });
  const decision = rules.find(({ origin }) => origin.file === written.file && origin.line === written.line)?.decision;
  return requests.flatMap((request) => {
    const { server, tool, kind, client, principal } = request;
    const { rule } = engine.check({ server, tool, kind, client, principal, mode: "default", interactive: true });
    return rule.decision === decision ? [] : [{ ...request, rule: compared.get(rule) ?? rule }];
  });
}
