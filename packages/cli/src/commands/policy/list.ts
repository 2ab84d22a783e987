/** `fairlead policy list`: shows every rule that applies here, strongest first, with its source. */

import { demoName } from "@fairlead/core/demo/name";
import { readToolApprovals } from "@fairlead/core/policy/approvals";
import { defaultRules } from "@fairlead/core/policy/rules/built-in-rules";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import type { DecisionOutcome, PolicyRule, Tier } from "@fairlead/core/policy/rules/rule";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ToolApproval } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type Output, type Style, table } from "../../output/output.ts";
import { decisionWord, originText, ruleDocument, subjectText } from "../../output/policy/rule-lines.ts";
import { problemLines } from "../../output/servers/server-details.ts";
import { timeText } from "../../output/time-text.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { nameHint, type Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
Rules are listed in groups, strongest group first. Within a group the rule with the higher priority wins, then the
stricter rule. A stricter rule also wins over "trust" in a server's entry, unless the rule is built in. To see which
rule decides about a tool: fairlead policy explain.

Examples:
  fairlead policy list
  fairlead policy list --json`,

  define: (command) => command.option("--utc", "show times in UTC; --json always prints UTC"),

  async run(context) {
    const { out, globals, command } = context;
    const { utc: isUtc = false } = command.opts<{ readonly utc?: boolean }>();
    const configuration = await configurationOf(context);
    const { rules, problems, files } = await loadPolicies(configuration);
    const approvals = await readToolApprovals(configuration.locations.state);
    const all = [...rules, ...Object.values(defaultRules)].sort(byStrength);
    if (globals.json)
      return out.json({
        rules: all.map(ruleDocument),
        approvals: approvals.map(({ definition: _definition, ...approval }) => approval),
        files,
        problems,
      });
    for (const problem of problems) out.warn(problemLines(problem));
    // In a trusted folder, the problems printed above already name each ignored policy file.
    if (!configuration.trust.trusted)
      for (const { file, state } of files)
        if (state === "ignored") out.say(safe`${toSafeLine(file)} ignored: the folder is not trusted`);
    for (const rule of rules) warnOfUnknownServer(rule, configuration, out);
    const texts = tiers.flatMap((tier) => {
      const own = all.filter((rule) => rule.tier === tier);
      return own.length === 0 ? [] : [safe`${headings[tier]}\n${ruleLines(own, out.style)}`];
    });
    if (approvals.length > 0) texts.push(safe`your saved approvals\n${approvalLines(approvals, isUtc)}`);
    out.print(joinSafe(texts, safe`\n\n`));
  },
};

/**
 * Prints a note about a rule for an unknown server: the server may be added later, or its name may be mistyped.
 */
function warnOfUnknownServer({ server, origin }: PolicyRule, { servers }: Configuration, out: Output): void {
  const names = [...servers.map((one) => one.server.name), demoName];
  if (origin.source !== "policy_file" || server === undefined || names.some((name) => server.matches(name))) return;
  const hint = toVisibleLine(nameHint(server.text, names));
  const position = safe`${toSafeLine(origin.file ?? "")}:${origin.line ?? 1}`;
  out.warnOnce(safe`${position}: note: no server "${toVisibleLine(server.text)}" is configured here${hint}`);
}

const headings: Readonly<Record<Tier, SafeText>> = {
  administrator: safe`administrator`,
  user: safe`you`,
  workspace: safe`this workspace (can only make rules stricter)`,
  conversation: safe`this conversation`,
  default: safe`built in`,
};

const tiers: readonly Tier[] = ["administrator", "user", "workspace", "conversation", "default"];
const decisions: readonly DecisionOutcome[] = ["deny", "ask_user", "allow"];

function byStrength(a: PolicyRule, b: PolicyRule): number {
  return (
    tiers.indexOf(a.tier) - tiers.indexOf(b.tier) ||
    b.priority - a.priority ||
    decisions.indexOf(a.decision) - decisions.indexOf(b.decision)
  );
}

function ruleLines(rules: readonly PolicyRule[], style: Style): SafeText {
  return table(
    rules.map((rule) => [
      safe`  ${decisionWord(rule.decision, style)}`,
      subjectText(rule),
      rule.origin.source === "policy_file" ? safe`${rule.priority}` : safe``,
      originText(rule),
    ]),
  );
}

function approvalLines(approvals: readonly ToolApproval[], isUtc: boolean): SafeText {
  return table(
    approvals.map(({ server, tool, client, workspace, approvedAt, digest }) => [
      joinSafe(
        [
          safe`  ${toVisibleLine(`${server}.${tool}`)}`,
          ...(client === undefined ? [] : [safe`client ${toVisibleLine(client)}`]),
          ...(workspace === undefined ? [] : [safe`in ${toVisibleLine(workspace)}`]),
        ],
        safe`, `,
      ),
      safe`approved ${toSafeLine(timeText(approvedAt, isUtc))}`,
      toSafeLine(digest.slice(0, 12)),
    ]),
  );
}
