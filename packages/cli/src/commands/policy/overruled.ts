/** What a new rule does not change: tools it is about, of which a stronger rule says something else. */

import type { Host } from "@fairlead/core/host";
import { PolicyEngine } from "@fairlead/core/policy/policy-engine";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import { namePattern } from "@fairlead/core/policy/rules/name-pattern";
import type { PolicyRule } from "@fairlead/core/policy/rules/rule";
import type { RuleToWrite, WrittenRule } from "@fairlead/core/policy/rules/write-rule";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { ToolTarget } from "../../targets/target.ts";

export interface Overruled extends ToolTarget {
  /** With a pattern for arguments, it decides about some calls only. */
  readonly rule: PolicyRule;
}

/** Rules about arguments are compared as if those matched: what is stronger then is stronger for some call. */
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

/** What a rule is about: the tool that was named, there or not, or of those that are known the ones that fit. */
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
