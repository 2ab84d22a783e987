/** Finds the tools for which a stronger rule decides otherwise than a newly written rule. */

import type { Host } from "@fairlead/core/host";
import { PolicyEngine } from "@fairlead/core/policy/policy-engine";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import { namePattern } from "@fairlead/core/policy/rules/name-pattern";
import type { PolicyRule } from "@fairlead/core/policy/rules/rule";
import type { RuleToWrite, WrittenRule } from "@fairlead/core/policy/rules/write-rule";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { ToolTarget } from "../../targets/target.ts";

export interface Overruled extends ToolTarget {
  /** The stronger rule; with an `argsPattern` it decides for some calls only. */
  readonly rule: PolicyRule;
}

/** Ignores argument patterns: a stronger rule with a pattern is stronger for at least some calls. */
export async function overruledBy(
  written: WrittenRule,
  pairs: readonly ToolTarget[],
  configuration: Configuration,
): Promise<readonly Overruled[]> {
  const { rules } = await loadPolicies(configuration);
  const compared = new Map(rules.map((rule) => [forAllArguments(rule), rule]));
  const engine = new PolicyEngine({ rules: [...compared.keys()] });
  const decision = rules.find((rule) => isThat(rule, written))?.decision;
  return pairs.flatMap((pair) => {
    const { rule } = engine.check({ ...pair, mode: "default", interactive: true });
    return rule.decision === decision ? [] : [{ ...pair, rule: compared.get(rule) ?? rule }];
  });
}

function isThat({ origin }: PolicyRule, { file, line }: WrittenRule): boolean {
  return origin.file === file && origin.line === line;
}

function forAllArguments({ argsPattern: _some, ...rule }: PolicyRule): PolicyRule {
  return rule;
}

/** The tools that a rule matches: cached tools that fit its patterns, or else the exact tool that it names. */
export async function pairsOf(
  named: ToolTarget,
  { server, tool }: RuleToWrite,
  host: Host,
): Promise<readonly ToolTarget[]> {
  const [isServer, isTool] = [namePattern(server).matches, namePattern(tool).matches];
  await host.recall();
  const known = host.states().flatMap(({ name }) => {
    const tools = isServer(name) ? (host.catalog(name)?.tools ?? []) : [];
    return tools.flatMap((one) => (isTool(one.name) ? [{ server: name, tool: one.name }] : []));
  });
  const isExact = !/[*?]/.test(named.server + named.tool);
  return known.length === 0 && isExact ? [named] : known;
}
