/** `fairlead policy remove`: removes rules from the user's policy files, and the saved approval of a tool. */

import { access } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { demoName } from "@fairlead/core/demo/name";
import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { forgetApprovalsNamed } from "@fairlead/core/policy/approvals";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import { escapeName } from "@fairlead/core/policy/rules/name-pattern";
import type { RequestKind } from "@fairlead/core/policy/rules/rule";
import {
  isAbout,
  type RemovedRule,
  type RuleInFile,
  type RuleToWrite,
  removeRules,
  usualPriority,
} from "@fairlead/core/policy/rules/write-rule";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { decisionWord, reasonText } from "../../output/policy/rule-lines.ts";
import { configurationOf, warnOfPolicyProblems } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { defineSubject, readSubject, type Subject, subjectName } from "../../targets/rule-subject.ts";
import { useHost } from "../../targets/with-host.ts";

export const verb: Verb = {
  help: `
RULE is the name that you gave to policy allow, ask or deny, or FILE:LINE as policy list shows it.
Removes the rule from your policy files (~/.gemini/policies), and the saved approval of the tool. Comments above the
rule and other rules stay. To remove a rule of the administrator or of the workspace, edit its file.

Examples:
  fairlead policy remove demo.greet
  fairlead policy remove 'demo.*'
  fairlead policy remove --kind resource demo
  fairlead policy remove demo.greet --args-pattern '"loud":true'
  fairlead policy remove ~/.gemini/policies/fairlead.toml:3`,

  define(command) {
    defineSubject(command, "rule", "the tool, as in policy allow; or FILE:LINE");
    command.option("--args-pattern <regex>", "remove the rule that has this argument pattern");
  },

  async run(context) {
    const configuration = await configurationOf(context);
    const ruleLine = placeIn(context.operands[0]);
    if (ruleLine !== undefined) return removeAt(ruleLine, configuration, context);
    await useHost(configuration, context, async (host) => {
      await warnOfPolicyProblems(host, context);
      const subject = await readSubject(host, configuration, context);
      await removeAbout(subject, { host, configuration, context });
    });
  },
};

interface RuleLine {
  readonly file: string;
  readonly line: number;
}

function placeIn(word = ""): RuleLine | undefined {
  const [, file, line] = /^(.*\.toml):(\d{1,7})(?::\d+)?$/i.exec(word) ?? [];
  return file === undefined ? undefined : { file, line: Number(line) };
}

async function removeAt(ruleLine: RuleLine, configuration: Configuration, context: Context): Promise<void> {
  const folder = configuration.locations.policies.user;
  const given = resolve(context.io.cwd, ruleLine.file);
  const file = dirname(given) === folder || (await isThere(given)) ? given : join(folder, ruleLine.file);
  if (dirname(file) !== folder)
    throw new HostError("usage", `${file} is not one of your policy files: remove its rules by editing that file`, {
      next: `edit ${file}`,
    });
  const removed = await removeRules(file, (rule) => isOnLine(rule, ruleLine.line));
  if (removed.length === 0)
    throw new HostError("usage", `${file}:${ruleLine.line} has no [[rule]] there`, { next: "fairlead policy list" });
  report({ removed: [{ file, rules: removed }], approvals: 0 }, configuration, context);
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

function isOnLine({ line, lastLine }: RuleInFile, wanted: number): boolean {
  return wanted >= line && wanted <= lastLine;
}

interface Removal {
  readonly host: Host;
  readonly configuration: Configuration;
  readonly context: Context;
}

async function removeAbout(subject: Subject, { host, configuration, context }: Removal): Promise<void> {
  const { server, tool, kind, client } = subject;
  const { argsPattern } = context.command.opts<{ readonly argsPattern?: string }>();
  const condition = { argsPattern, client };
  // A rule escapes `*` in a tool's name, but not in a pattern. The user types `*` for both, so both spellings match.
  const spellings = [tool, escapeName(tool)].flatMap((one) =>
    [server, escapeName(server)].map((name) => ({ server: name, tool: one, kind, ...condition })),
  );
  const { files } = await loadPolicies(configuration);
  const isMeant = (rule: RuleInFile): boolean => spellings.some((about) => isAbout(rule, about));
  const own = files.filter(({ tier }) => tier === "user");
  const removed = await Promise.all(own.map(({ file }) => removeFrom(file, isMeant)));
  const found = removed.filter(({ rules }) => rules.length > 0);
  const isWhole = kind === "tool" && argsPattern === undefined;
  const approvals = isWhole ? await forgetApprovalsNamed(configuration.locations.state, server, tool, client) : 0;
  if (found.length === 0 && approvals === 0) throw await nothingFound(subject, host);
  report({ removed: found, approvals }, configuration, context);
  if (!context.globals.json && !/[*?]/.test(server + tool)) await tellDecision(subject, host, context);
}

/** Removes rules from one policy file. Skips a file that is not valid TOML: its error is already reported. */
async function removeFrom(file: string, isMeant: (rule: RuleInFile) => boolean): Promise<Removed> {
  const rules = await removeRules(file, isMeant).catch((error: unknown) => {
    if (error instanceof HostError && error.code === "settings_invalid") return [];
    throw error;
  });
  return { file, rules };
}

async function nothingFound(subject: Subject, host: Host): Promise<HostError> {
  const { server, tool, kind, client } = subject;
  const { matching } = await host.explain(server, kind === "sampling" ? "" : tool, undefined, { kind, client });
  const other = matching.find(({ tier, origin }) => tier === "user" && origin.source === "policy_file");
  const name = subjectName(subject);
  if (other === undefined)
    return new HostError("usage", `you have no rule for ${name}`, { next: "fairlead policy list" });
  const { file = "", line = 1 } = other.origin;
  const position = `${file}:${line}`;
  return new HostError("usage", `you have no rule for ${name} alone: the rule in ${position} also covers other names`, {
    next: `fairlead policy remove ${toShellWord(position)}`,
  });
}

async function tellDecision({ server, tool, kind, client }: Subject, host: Host, { out }: Context): Promise<void> {
  const { decision } = await host.explain(server, kind === "sampling" ? "" : tool, undefined, { kind, client });
  out.say(safe`now: ${decisionWord(decision.decision, out.style)}: ${reasonText(decision.rule)}`);
}

interface Removed {
  readonly file: string;
  readonly rules: readonly RemovedRule[];
}

interface Report {
  readonly removed: readonly Removed[];
  /** Number of saved approvals that were removed. */
  readonly approvals: number;
}

function report({ removed, approvals }: Report, { servers }: Configuration, { out, globals }: Context): void {
  if (globals.json) {
    const rules = removed.flatMap(({ file, rules: ofFile }) =>
      ofFile.map(({ line, members }) => ({ file, line, ...members })),
    );
    out.json({ removed: rules, approvals });
    return;
  }
  for (const { file, rules } of removed)
    for (const { line, members } of rules)
      out.show(safe`removed ${toVisibleLine(nameOf(members))} from ${toSafeLine(file)}:${line}`);
  if (approvals > 0) out.show(safe`removed the saved approval`);
  const names = [...servers.map(({ server }) => server.name), demoName];
  const undo = removed.flatMap(({ rules }) => rules.flatMap(({ members }) => commandFor(members, names) ?? []));
  if (undo.length > 0) out.undo(...undo);
}

const words: ReadonlyMap<unknown, string> = new Map([
  ["allow", "allow"],
  ["ask_user", "ask"],
  ["deny", "deny"],
]);

function nameOf({ mcpName = "*", toolName = "*", kind, client, decision }: RemovedRule["members"]): string {
  const tool = Array.isArray(toolName) ? toolName.join("|") : String(toolName);
  const about = subjectName({ server: String(mcpName), tool, kind: isKind(kind) ? kind : undefined });
  return `${words.get(decision) ?? "rule"} ${about}${typeof client === "string" ? ` for client ${client}` : ""}`;
}

function isKind(value: unknown): value is RequestKind {
  return value === "tool" || value === "resource" || value === "prompt" || value === "sampling";
}

/** Returns the command that writes the removed rule again. Undefined if no command can write this rule. */
function commandFor(members: RemovedRule["members"], names: readonly string[]): string | undefined {
  const { mcpName, toolName, kind, argsPattern, client, decision, priority, ...more } = members;
  const word = words.get(decision);
  if (word === undefined || typeof mcpName !== "string" || typeof toolName !== "string") return undefined;
  const pattern: Pick<RuleToWrite, "argsPattern" | "client"> = {
    argsPattern: typeof argsPattern === "string" ? argsPattern : undefined,
    client: typeof client === "string" ? client : undefined,
  };
  if (Object.keys(more).length > 0 || priority !== usualPriority({ tool: toolName, ...pattern })) return undefined;
  // `fairlead policy` commands do not accept names with a backslash escape.
  if (/\\/.test(mcpName + toolName)) return undefined;
  const isPlain = names.filter((name) => `${mcpName}.${toolName}`.startsWith(`${name}.`)).join() === mcpName;
  return [
    `fairlead policy ${word}`,
    ...(isKind(kind) && kind !== "tool" ? [`--kind ${kind}`] : []),
    isPlain
      ? toShellWord(`${mcpName}.${toolName}`)
      : `--server ${toShellWord(mcpName)} --tool ${toShellWord(toolName)}`,
    ...(typeof client === "string" ? [`--client ${toShellWord(client)}`] : []),
    ...(typeof argsPattern === "string" ? [`--args-pattern ${toShellWord(argsPattern)}`] : []),
  ].join(" ");
}
