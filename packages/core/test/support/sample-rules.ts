/** Rules and requests for tests of the engine: what is not said is the plainest. */

import type { CheckRequest, DecisionOutcome, PolicyRule, Tier } from "../../src/policy/rules/rule.ts";

export function rule(tier: Tier, decision: DecisionOutcome, more: Partial<PolicyRule> = {}): PolicyRule {
  return { tier, decision, priority: 10, origin: { source: "policy_file", name: `${tier} ${decision}` }, ...more };
}

export const trust: PolicyRule = rule("user", "allow", {
  priority: -1,
  kind: "tool",
  origin: { source: "trust", name: "trust" },
});

export function request(more: Partial<CheckRequest> = {}): CheckRequest {
  return { server: "s", tool: "t", mode: "default", interactive: true, ...more };
}
