/** What `policy allow`, `deny` and `ask` do: they write one rule into your own file, and say what still stands above it. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { escapeName } from "@fairlead/core/policy/rules/name-pattern";
import type { DecisionOutcome } from "@fairlead/core/policy/rules/rule";
import { type RuleToWrite, userRuleFile, type WrittenRule, writeRule } from "@fairlead/core/policy/rules/write-rule";
import { closest } from "@fairlead/core/text/closest";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { count, type Output } from "../../output/output.ts";
import { decisionWord, reasonText, ruleDocument } from "../../output/policy/rule-lines.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { warnOfPolicyProblems } from "../../shell/policy-problems.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { defineSubject, readSubject, type Subject } from "../../targets/rule-subject.ts";
import { targetName } from "../../targets/target.ts";
import { useHost } from "../../targets/with-host.ts";
import { type Overruled, overruledBy, pairsOf } from "./overruled.ts";

const words: Readonly<Record<DecisionOutcome, "allow" | "ask" | "deny">> = {
  allow: "allow",
  ask_user: "ask",
  deny: "deny",
};

const effects: Readonly<Record<DecisionOutcome, string>> = {
  allow: `A model's calls of it run without a question, as long as its definition is the one that you have seen.`,
  ask_user: `Every call of it is asked about, also one that you type; call --yes answers.`,
  deny: `Nobody calls it: no model, no trust, no --yes.`,
};

export function createRuleVerb(decision: DecisionOutcome): Verb {
  return {
    define(command) {
      defineSubject(command);
      const word = words[decision];
      command
        .option("--args-pattern <regex>", "only calls whose arguments, as compact JSON with sorted keys, match this")
        .addHelpText(
          "after",
          `
${effects[decision]}
The rule goes into ~/.gemini/policies/fairlead.toml; comments and other rules there stay as they are. A second word
about the same tool replaces the first. A rule about one tool is stronger than one about its whole server.

  'server.*'       every tool that the server has now or gets later
  'server.get_*'   every tool of it whose name fits; ? stands for one letter

Examples:
  fairlead policy ${word} demo.greet
  fairlead policy ${word} 'demo.*'
  fairlead policy ${word} --server demo --tool greet
  fairlead policy ${word} demo.greet --args-pattern '"loud":true'`,
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

const isWild = (name: string): boolean => /[*?]/.test(name);

/** A rule about a name that was mistyped would be believed, and do nothing. */
function refuseUnknownServer({ server, known }: Subject, host: Host, { operands: [word], command }: Context): void {
  if (known !== "nothing" || isWild(server) || word === undefined) return;
  const near = closest(
    server,
    host.states().map(({ name }) => name),
  );
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("server_unknown", `there is no server "${server}"${suggestion}`, {
    next: `${command.name()} --server ${toShellWord(server)} --tool …   writes a rule for one that is still to come`,
  });
}

async function toRule(
  { server, tool, known }: Subject,
  decision: DecisionOutcome,
  { command }: Context,
): Promise<RuleToWrite> {
  const { argsPattern } = command.opts<{ readonly argsPattern?: string }>();
  if (argsPattern !== undefined) await checkPattern(argsPattern);
  // A server may have given a tool a name that reads as a pattern: whoever allows it means that one alone.
  const exact = (name: string, isThere: boolean): string =>
    isWild(name) && !(isThere && decision === "allow") ? name : escapeName(name);
  return {
    server: known === "nothing" ? exact(server, false) : escapeName(server),
    tool: tool === "*" ? tool : exact(tool, known === "tool"),
    ...(argsPattern !== undefined && { argsPattern }),
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
  const place = safe`${toSafeLine(file)}:${line}`;
  if (globals.json) {
    const overruled = above.map(({ rule: stronger, ...pair }) => ({ ...pair, rule: ruleDocument(stronger) }));
    out.json({ ...rule, ...written, overruled });
    return;
  }
  const about = toVisibleLine(targetName(rule));
  const before =
    replaced === undefined || replaced === rule.decision ? safe`` : safe` (it said ${toSafeLine(replaced)})`;
  const verb = replaced === rule.decision ? safe`already in` : safe`written to`;
  out.print(safe`${decisionWord(rule.decision, out.style)} ${about}: ${verb} ${place}${before}`);
  tellUnknown(subject, out);
  tellOverruled(above, out);
  if (replaced === undefined) out.say(safe`to take it back, delete it there`);
  else if (replaced !== rule.decision) out.undo(undoLine(replaced, context));
}

const mostTold = 5;

function tellOverruled(above: readonly Overruled[], out: Output): void {
  for (const { rule, ...pair } of above.slice(0, mostTold)) {
    const some = rule.argsPattern === undefined ? safe`` : safe`, with some arguments`;
    out.warn(safe`note: about ${toVisibleLine(targetName(pair))}${some}, a stronger rule decides: ${reasonText(rule)}`);
  }
  const left = above.length - mostTold;
  if (left > 0)
    out.warn(safe`note: the same goes for ${count(left, "other tool")}; fairlead policy explain names the rule`);
}

function tellUnknown({ server, tool, known }: Subject, out: Output): void {
  if (known === "server" && !isWild(tool))
    out.warn(safe`note: "${toVisibleLine(server)}" has no tool "${toVisibleLine(tool)}", as far as is known`);
  if (known === "nothing" && !isWild(server))
    out.warn(safe`note: there is no server "${toVisibleLine(server)}" here yet`);
}

function undoLine(replaced: string, { command, operands }: Context): string {
  const word = replaced === "ask_user" ? "ask" : replaced;
  const { server, tool, argsPattern } = command.opts<Readonly<Record<string, string | undefined>>>();
  const options = Object.entries({ "--server": server, "--tool": tool, "--args-pattern": argsPattern });
  const given = options.flatMap(([flag, value]) => (value === undefined ? [] : `${flag} ${toShellWord(value)}`));
  return ["fairlead policy", word, ...operands.map(toShellWord), ...given].join(" ");
}
