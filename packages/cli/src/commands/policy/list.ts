/** `fairlead policy list` shows every rule that applies here; `policy explain` shows the decision for one request. */

import { problemLines } from "@fairlead/console/server/words/server-details";
import { HostError } from "@fairlead/core/errors";
import { demoName, type Explanation } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  type ApprovalMode,
  type CheckRequest,
  type DecisionOutcome,
  defaultRules,
  everyResource,
  loadPolicies,
  type PolicyRule,
  readToolApprovals,
  type Tier,
} from "@fairlead/core/policy";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration, ToolApproval } from "@fairlead/core/trust";
import { parseObject } from "@fairlead/wire/json";
import { Option } from "commander";
import { type Output, type Style, table } from "../../output/output.ts";
import { decisionWord, originText, reasonText, ruleDocument, subjectText } from "../../output/policy/rule-lines.ts";
import { timeText } from "../../output/time-text.ts";
import { configurationOf, warnOfPolicyProblems } from "../../shell/configuration.ts";
import { type Context, nameHint, type Verb } from "../../shell/verb.ts";
import { decideOptions, defineSubject, readSubject, type Subject, subjectName } from "../../targets/rule-subject.ts";
import { useHost } from "../../targets/with-host.ts";
import { loadTeamRules } from "../team/team-rules.ts";

const list: Verb = {
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

// `fairlead policy explain`: shows the decision for a tool, the rule that decides, and the weaker rules.

interface Options {
  readonly args?: string;
  readonly mode: ApprovalMode;
  readonly headless?: boolean;
  readonly team?: boolean;
  readonly user?: string;
  readonly group?: string;
}

const explain: Verb = {
  help: `
Shows the decision for a call by the model. A call that you type (fairlead call) is stopped only by a deny rule,
by an ask rule in your or the administrator's files, or by a changed definition.
Uses the catalog cache and connects to no server. The tool need not exist.

Examples:
  fairlead policy explain demo.greet
  fairlead policy explain demo.greet --headless
  fairlead policy explain demo.greet --mode plan --json
  fairlead policy explain demo.greet --args '{"name": "Ada", "loud": true}'
  fairlead policy explain --kind resource demo.demo://about
  fairlead policy explain --client claude-code demo.greet
  fairlead policy explain --user 'https://idp.example#ada' --group engineers demo.greet
  fairlead policy explain --team --user 'https://idp.example#ada' --client claude github.merge`,

  define(command) {
    defineSubject(command);
    command
      .option(
        "--args <json>",
        "show the decision for a call with these arguments; without --args, rules about arguments do not apply",
      )
      .addOption(
        new Option("--mode <mode>", "show the decision for this approval mode")
          .choices(["default", "plan", "yolo"])
          .default("default"),
      )
      .option("--headless", "show the decision for a run without a terminal to ask on")
      .option(
        "--team",
        "by the current policy of the team gateway; without --group, with the groups of the user's last token",
      );
  },

  async run(context) {
    const { mode, headless = false, user, group, ...options } = context.command.opts<Options>();
    const args = readArgs(options.args);
    const team = options.team === true ? await loadTeamRules(context, user) : undefined;
    const configuration = team?.configuration ?? (await configurationOf(context));
    const interactive = !headless;
    await useHost(
      configuration,
      context,
      async (host) => {
        await warnOfPolicyProblems(host, context);
        const subject = await readSubject(host, configuration, context);
        refuseWild(subject, context);
        const { server, kind } = subject;
        const tool = kind === "sampling" ? "" : subject.tool;
        const given = decideOptions(subject);
        const hasGroups = user !== undefined && group === undefined && team?.groups !== undefined;
        const principal = hasGroups ? { user, groups: team.groups } : given.principal;
        const explained = await host.explain(server, tool, args, { ...given, principal });
        report({ ...explained, subject, mode, interactive, configuration }, context);
      },
      { approvalMode: mode, interactive },
    );
  },
};

function readArgs(text: string | undefined): CheckRequest["args"] {
  if (text === undefined) return undefined;
  const value = parseObject(text);
  if (value === undefined) throw new HostError("usage", "--args must be a JSON object");
  return value;
}

/**
 * Refuses a pattern. A name with `*` or `?` counts as a pattern unless a known server or tool has exactly this name.
 */
function refuseWild({ server, tool, kind, found }: Subject, { operands: [word] }: Context): void {
  if (kind === "sampling") return;
  if (kind !== "tool" && (tool === everyResource || tool === "*"))
    throw new HostError("usage", `no ${kind} is named: policy explain takes one ${kind}`, {
      next: `fairlead ${kind}s ${toShellWord(server)}`,
    });
  const unknown = `${found === "nothing" ? server : ""}${found === "tool" ? "" : tool}`;
  if (word === undefined || !/[*?]/.test(unknown)) return;
  throw new HostError("usage", `"${word}" is a pattern: policy explain takes one tool`, {
    next: "fairlead policy list",
  });
}

interface Report extends Explanation {
  readonly subject: Subject;
  readonly mode: ApprovalMode;
  readonly interactive: boolean;
  readonly configuration: Configuration;
}

function report(explanation: Report, { out, globals }: Context): void {
  const { subject, matching, mode, interactive, isChanged, trust, outdated, configuration } = explanation;
  const { decision, rule, over } = explanation.decision;
  const others = matching.filter((other) => other !== rule && other !== over);
  if (globals.json) {
    const { found, ...named } = subject;
    out.json({
      ...named,
      known: found,
      mode,
      interactive,
      changed: isChanged,
      decision,
      rule: ruleDocument(rule),
      over: over && ruleDocument(over),
      matched: others.map(ruleDocument),
      trustEffect: trust,
      outdated,
      folder: folderDocument(configuration),
    });
    return;
  }
  const rows: SafeText[][] = [[safe`  because`, reasonText(rule)]];
  if (rule.origin.source === "policy_file") rows.push([safe`  rule`, subjectText(rule)]);
  if (over) rows.push([safe`  otherwise`, reasonText(over)]);
  for (const [at, other] of others.entries()) rows.push([at === 0 ? safe`  weaker` : safe``, reasonText(other)]);
  if (configuration.trust.source === "ide") rows.push([safe`  folder`, folderText(configuration)]);
  if (trust?.counts === false) {
    rows.push([safe`  trust`, safe`"trust": true has no effect: ${toVisibleLine(trust.reason)}`]);
    if (trust.next !== undefined) rows.push([safe``, out.typed(safe`next: ${toVisibleLine(trust.next)}`)]);
  }
  if (isChanged && rule.origin.name !== "changed" && rule.origin.name !== "unsaved")
    rows.push([safe`  changed`, safe`the tool's definition differs from the accepted one`]);
  if (outdated !== undefined)
    rows.push([
      safe`  unless`,
      safe`the definition has changed since the cached catalog was saved: ${toVisibleLine(outdated)}`,
    ]);
  const note = catalogNote(subject);
  if (note) rows.push([safe`  note`, note]);
  out.show(
    safe`${out.style.bold(toVisibleLine(subjectName(subject)))}: ${decisionWord(decision, out.style)}\n${table(rows)}`,
  );
}

function folderText({ locations, trust: { trusted, detail } }: Configuration): SafeText {
  return safe`${toVisibleLine(locations.root)} is ${trusted ? safe`trusted` : safe`not trusted`}: ${toVisibleLine(detail)}`;
}

function folderDocument({ locations, trust: { trusted, source, detail } }: Configuration): object {
  return { root: locations.root, trusted, source, detail };
}

function catalogNote({ server, tool, kind, found }: Subject): SafeText | undefined {
  if (kind !== "tool" && found === "entry") return undefined;
  switch (found) {
    case "tool":
      return undefined;
    case "server":
      return safe`"${toVisibleLine(server)}" has no tool "${toVisibleLine(tool)}" in its cached catalog`;
    case "entry":
      return safe`"${toVisibleLine(server)}" has no cached catalog yet, so the tool's annotations are unknown; to load them: fairlead tools`;
    case "nothing":
      return safe`no server "${toVisibleLine(server)}" is configured here`;
  }
}

export const verbs: Readonly<Record<"list" | "explain", Verb>> = { list, explain };
