/**
 * `fairlead policy allow`, `ask` and `deny`: write one rule into the user's policy file, and tell the user about
 * stronger rules.
 */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { PolicyEngine } from "@fairlead/core/policy/policy-engine";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import { escapeName, namePattern } from "@fairlead/core/policy/rules/name-pattern";
import type { DecisionOutcome, PolicyRule } from "@fairlead/core/policy/rules/rule";
import { type RuleToWrite, userRuleFile, type WrittenRule, writeRule } from "@fairlead/core/policy/rules/write-rule";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { count, type Output } from "../../output/output.ts";
import { decisionWord, reasonText, ruleDocument } from "../../output/policy/rule-lines.ts";
import { configurationOf, warnOfPolicyProblems } from "../../shell/configuration.ts";
import { type Context, nameHint, type Verb } from "../../shell/verb.ts";
import { defineSubject, readSubject, type Subject, subjectName } from "../../targets/rule-subject.ts";
import { type ToolTarget, targetName } from "../../targets/target.ts";
import { useHost } from "../../targets/with-host.ts";

const words: Readonly<Record<DecisionOutcome, "allow" | "ask" | "deny">> = {
  allow: "allow",
  ask_user: "ask",
  deny: "deny",
};

const effects: Readonly<Record<DecisionOutcome, string>> = {
  allow: `The model may call the tool without confirmation as long as the tool has the definition that you accepted.`,
  ask_user: `Fairlead asks before every call, also before a call that you type. To confirm in advance, use fairlead call --yes.`,
  deny: `Neither you nor a model can call the tool; trust and --yes do not change that.`,
};

function createRuleVerb(decision: DecisionOutcome): Verb {
  return {
    help: `
${effects[decision]}
Writes the rule into ~/.gemini/policies/fairlead.toml and keeps comments and other rules. A second rule for the same
tool replaces the first. A rule for one tool is stronger than a rule for the whole server.

  'server.*'       every tool of the server, also future ones
  'server.get_*'   every tool whose name matches; ? matches one character
  --kind resource|prompt|sampling SERVER[.NAME]   the same for resources (by URI), prompts and sampling
  --client NAME    only requests from this client of fairlead serve, such as claude-code

Examples:
  fairlead policy ${words[decision]} demo.greet
  fairlead policy ${words[decision]} 'demo.*'
  fairlead policy ${words[decision]} --server demo --tool greet
  fairlead policy ${words[decision]} demo.greet --args-pattern '"loud":true'
  fairlead policy ${words[decision]} --kind resource demo
  fairlead policy ${words[decision]} --client claude-code demo.greet`,

    define(command) {
      defineSubject(command);
      command.option(
        "--args-pattern <regex>",
        "only calls whose arguments, as compact JSON with sorted keys, match this pattern",
      );
    },

    async run(context) {
      const configuration = await configurationOf(context);
      await useHost(configuration, context, async (host) => {
        await warnOfPolicyProblems(host, context);
        const subject = await readSubject(host, configuration, context);
        refuseUnknownServer(subject, host, context);
        const rule = await toRule(subject, decision, context);
        const written = await writeRule(userRuleFile(configuration.locations), rule);
        const above = await overruledBy(written, await pairsOf(subject, rule, host), configuration);
        report({ subject, rule, written, above }, context);
      });
    },
  };
}

/** The commands `fairlead policy allow`, `ask` and `deny`. */
export const verbs: Readonly<Record<"allow" | "ask" | "deny", Verb>> = {
  allow: createRuleVerb("allow"),
  ask: createRuleVerb("ask_user"),
  deny: createRuleVerb("deny"),
};

const isWild = (name: string): boolean => /[*?]/.test(name);

/**
 * Refuses an unknown server, because a rule with a mistyped server name would silently do nothing.
 * @throws HostError `server_unknown`
 */
function refuseUnknownServer({ server, found }: Subject, host: Host, { operands: [word], command }: Context): void {
  if (found !== "nothing" || isWild(server) || word === undefined) return;
  const suggestion = nameHint(
    server,
    host.states().map(({ name }) => name),
  );
  throw new HostError("server_unknown", `there is no server "${server}"${suggestion}`, {
    next: `to write a rule for a future server: ${command.name()} --server ${toShellWord(server)} --tool TOOL`,
  });
}

async function toRule(
  { server, tool, kind, found, client }: Subject,
  decision: DecisionOutcome,
  { command }: Context,
): Promise<RuleToWrite> {
  const { argsPattern } = command.opts<{ readonly argsPattern?: string }>();
  if (argsPattern !== undefined) await checkPattern(argsPattern);
  // A tool's name can look like a pattern, for example "*". A rule for this tool must not match any other tool.
  const exact = (name: string, isThere: boolean): string =>
    isWild(name) && !(isThere && decision === "allow") ? name : escapeName(name);
  return {
    server: found === "nothing" ? exact(server, false) : escapeName(server),
    tool: tool === "*" ? tool : exact(tool, found === "tool"),
    kind: kind === "tool" ? undefined : kind,
    argsPattern,
    client,
    decision,
  };
}

async function checkPattern(text: string): Promise<void> {
  const { compileArgsPattern } = await import("@fairlead/core/policy/rules/args-pattern");
  const pattern = compileArgsPattern(text);
  if (typeof pattern === "string") throw new HostError("usage", `--args-pattern cannot be used: ${pattern}`);
}

interface Report {
  readonly subject: Subject;
  readonly rule: RuleToWrite;
  readonly written: WrittenRule;
  readonly above: readonly Overruled[];
}

function report({ subject, rule, written, above }: Report, context: Context): void {
  const { out, globals } = context;
  const { file, line, replaced } = written;
  const position = safe`${toSafeLine(file)}:${line}`;
  if (globals.json) {
    const overruled = above.map(({ rule: stronger, ...pair }) => ({ ...pair, rule: ruleDocument(stronger) }));
    out.json({ ...rule, ...written, overruled });
    return;
  }
  const whose = rule.client === undefined ? safe`` : safe` for client ${toVisibleLine(rule.client)}`;
  const about = safe`${toVisibleLine(subjectName(rule))}${whose}`;
  const before = replaced === undefined || replaced === rule.decision ? safe`` : safe` (was ${toSafeLine(replaced)})`;
  const verb = replaced === rule.decision ? safe`already in` : safe`written to`;
  out.show(safe`${decisionWord(rule.decision, out.style)} ${about}: ${verb} ${position}${before}`);
  tellUnknown(subject, out);
  tellKind(rule, out);
  tellOverruled(above, out);
  if (replaced !== rule.decision) out.undo(undoLine(replaced, context));
}

/** Warns that Gemini CLI reads this policy file too, and would apply a rule about prompts or sampling to tools. */
function tellKind({ kind = "tool", server, tool, client }: RuleToWrite, out: Output): void {
  if (client !== undefined)
    out.warn(
      safe`note: Gemini CLI also reads this file. It ignores the key "client", so the rule also applies in Gemini CLI`,
    );
  if (kind === "tool" || kind === "resource") return;
  const about = toVisibleLine(targetName({ server, tool }));
  out.warn(
    safe`note: Gemini CLI also reads this file. It ignores the key "kind", so in Gemini CLI the rule applies to the tools ${about}`,
  );
}

const mostTold = 5;

function tellOverruled(above: readonly Overruled[], out: Output): void {
  for (const { rule, ...pair } of above.slice(0, mostTold)) {
    const some = rule.argsPattern === undefined ? safe`` : safe` with some arguments`;
    out.warn(safe`note: for ${toVisibleLine(targetName(pair))}${some} a stronger rule decides: ${reasonText(rule)}`);
  }
  const left = above.length - mostTold;
  if (left > 0)
    out.warn(
      safe`note: stronger rules also decide for ${count(left, "other tool")}; to see the rules: fairlead policy list`,
    );
}

function tellUnknown({ server, tool, found }: Subject, out: Output): void {
  if (found === "server" && !isWild(tool))
    out.warn(safe`note: "${toVisibleLine(server)}" has no tool "${toVisibleLine(tool)}" in its cached catalog`);
  if (found === "nothing" && !isWild(server))
    out.warn(safe`note: no server "${toVisibleLine(server)}" is configured here yet`);
}

function undoLine(replaced: string | undefined, { command, operands }: Context): string {
  const word = replaced === "ask_user" ? "ask" : (replaced ?? "remove");
  const { server, tool, kind, argsPattern, client } = command.opts<Readonly<Record<string, string | undefined>>>();
  const options = Object.entries({
    "--kind": kind === "tool" ? undefined : kind,
    "--server": server,
    "--tool": tool,
    "--args-pattern": argsPattern,
    "--client": client,
  });
  const given = options.flatMap(([flag, value]) => (value === undefined ? [] : `${flag} ${toShellWord(value)}`));
  return ["fairlead policy", word, ...operands.map(toShellWord), ...given].join(" ");
}

type RuledTool = ToolTarget & Pick<Subject, "kind" | "client">;

interface Overruled extends ToolTarget {
  /** The rule that is stronger than the new rule. If it has an `argsPattern`, it decides for some calls only. */
  readonly rule: PolicyRule;
}

/** Finds the rules that are stronger than the written rule, including rules that apply only to some arguments. */
async function overruledBy(
  written: WrittenRule,
  pairs: readonly RuledTool[],
  configuration: Configuration,
): Promise<readonly Overruled[]> {
  const { rules } = await loadPolicies(configuration);
  const compared = new Map(rules.map((rule) => [forAllArguments(rule), rule]));
  const engine = new PolicyEngine({ rules: [...compared.keys()] });
  const decision = rules.find((rule) => isThat(rule, written))?.decision;
  return pairs.flatMap((pair) => {
    const { server, tool, kind, client } = pair;
    const { rule } = engine.check({ server, tool, kind, client, mode: "default", interactive: true });
    return rule.decision === decision ? [] : [{ server, tool, rule: compared.get(rule) ?? rule }];
  });
}

function isThat({ origin }: PolicyRule, { file, line }: WrittenRule): boolean {
  return origin.file === file && origin.line === line;
}

function forAllArguments({ argsPattern: _some, ...rule }: PolicyRule): PolicyRule {
  return rule;
}

/** Returns the cached tools that match a rule. If none matches, returns the tool that the rule names exactly. */
async function pairsOf(named: Subject, { server, tool }: RuleToWrite, host: Host): Promise<readonly RuledTool[]> {
  const { kind, client } = named;
  if (kind !== "tool") return isWild(named.tool) ? [] : [named];
  const [isServer, isTool] = [namePattern(server).matches, namePattern(tool).matches];
  await host.recall();
  const matchingTools = host.states().flatMap(({ name }) => {
    const tools = isServer(name) ? (host.catalog(name)?.tools ?? []) : [];
    return tools.flatMap((one) => (isTool(one.name) ? [{ server: name, tool: one.name, kind, client }] : []));
  });
  const isExact = !/[*?]/.test(named.server + named.tool);
  return matchingTools.length === 0 && isExact ? [named] : matchingTools;
}
