/** Finds existing rules and approvals that would let a workspace's server run tools without confirmation: they match by name, perhaps of another server. */

import { readToolApprovals, type ToolApproval } from "@fairlead/core/policy/approvals";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import type { PolicyRule } from "@fairlead/core/policy/rules/rule";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { originText, subjectText } from "../../output/policy/rule-lines.ts";

export type AlreadyAllowed = (definition: ServerDefinition) => readonly SafeText[];

/** Ignores approvals that cannot be read: they allow nothing. */
export async function alreadyAllowed(configuration: Configuration): Promise<AlreadyAllowed> {
  const { root, state } = configuration.locations;
  const { rules } = await loadPolicies(configuration);
  const approvals = await readToolApprovals(state).catch((): readonly ToolApproval[] => []);
  return ({ name, fingerprint }) => [
    ...rules.filter((rule) => allows(rule, name)).map((rule) => safe`${subjectText(rule)}, by ${originText(rule)}`),
    ...approvals
      .filter((one) => one.server === name && one.workspace === root && one.fingerprint === fingerprint)
      .map(({ tool }) => safe`${toVisibleLine(`${name}.${tool}`)}, by your approval`),
  ];
}

/** Leaves out the entry's own "trust", which the review shows with the entry. */
function allows({ decision, server, kind = "tool", origin }: PolicyRule, name: string): boolean {
  return decision === "allow" && kind === "tool" && origin.source !== "trust" && server?.matches(name) !== false;
}
