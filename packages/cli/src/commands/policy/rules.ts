/** `fairlead policy allow`, `ask`, `deny` and `remove`: write and remove rules in the user's policy files. */

import { access } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  type DecisionOutcome,
  escapeName,
  forgetApprovalsNamed,
  isAbout,
  loadPolicies,
  namePattern,
  type OverruledRequest,
  overruledBy,
  type RemovedRule,
  type RequestKind,
  type RuleInFile,
  type RuleToWrite,
  readToolApprovals,
  removeRules,
  userRuleFile,
  usualPriority,
  type WrittenRule,
  writeRule,
} from "@fairlead/core/policy";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { count, type Output } from "../../output/output.ts";
import { decisionWord, reasonText, ruleDocument } from "../../output/policy/rule-lines.ts";
import { configurationOf, warnOfPolicyProblems } from "../../shell/configuration.ts";
import { type Context, nameHint, type Verb } from "../../shell/verb.ts";
import {
  decideOptions,
  defineSubject,
  principalOf,
  readSubject,
  type Senders,
  type Subject,
  subjectName,
} from "../../targets/rule-subject.ts";
import { targetName } from "../../targets/target.ts";
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
  --user ISSUER#SUBJECT, --group NAME   only requests of this user or group of a team gateway
  --read-only      only tools whose server says that they change nothing; a rule that allows counts only for servers
                   whose annotations you trust: fairlead.servers.NAME.trustAnnotations

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
      command.option("--read-only", "only tools whose annotation readOnlyHint is true");
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
        report(subject, rule, written, above, context);
      });
    },
  };
}

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

/** The options of a rule that make it about fewer calls. */
interface Conditions {
  readonly argsPattern?: string;
  readonly readOnly?: boolean;
}

async function toRule(
  { server, tool, kind, found, client, user, group }: Subject,
  decision: DecisionOutcome,
  { command }: Context,
): Promise<RuleToWrite> {
  const { argsPattern, readOnly } = command.opts<Conditions>();
  if (argsPattern !== undefined) await checkPattern(argsPattern);
  if (readOnly && kind !== "tool") throw new HostError("usage", "--read-only works only for tools");
  // A tool's name can look like a pattern, for example "*". A rule for this tool must not match any other tool.
  const exact = (name: string, isThere: boolean): string =>
    isWild(name) && !(isThere && decision === "allow") ? name : escapeName(name);
  return {
    server: found === "nothing" ? exact(server, false) : escapeName(server),
    tool: tool === "*" ? tool : exact(tool, found === "tool"),
    kind: kind === "tool" ? undefined : kind,
    argsPattern,
    client,
    user,
    group,
    readOnly,
    decision,
  };
}

async function checkPattern(text: string): Promise<void> {
  const { compileArgsPattern } = await import("@fairlead/core/policy/rules/args-pattern");
  const pattern = compileArgsPattern(text);
  if (typeof pattern === "string") throw new HostError("usage", `--args-pattern cannot be used: ${pattern}`);
}

function report(
  subject: Subject,
  rule: RuleToWrite,
  written: WrittenRule,
  above: readonly OverruledRequest[],
  context: Context,
): void {
  const { out, globals } = context;
  const { file, line, replaced } = written;
  const position = safe`${toSafeLine(file)}:${line}`;
  if (globals.json) {
    const overruled = above.map(({ server, tool, rule: stronger }) => ({ server, tool, rule: ruleDocument(stronger) }));
    out.json({ ...rule, ...written, overruled });
    return;
  }
  const whose = toVisibleLine(senderText(rule));
  const which = rule.readOnly ? safe` if read-only` : safe``;
  const about = safe`${toVisibleLine(subjectName(rule))}${which}${whose}`;
  const before = replaced === undefined || replaced === rule.decision ? safe`` : safe` (was ${toSafeLine(replaced)})`;
  const verb = replaced === rule.decision ? safe`already in` : safe`written to`;
  out.show(safe`${decisionWord(rule.decision, out.style)} ${about}: ${verb} ${position}${before}`);
  tellUnknown(subject, out);
  tellKind(rule, out);
  tellOverruled(above, out);
  if (replaced !== rule.decision) out.undo(undoLine(replaced, context));
}

/** Warns that Gemini CLI reads this policy file too, and would apply a rule about prompts or sampling to tools. */
function tellKind({ kind = "tool", server, tool, client, user, group }: RuleToWrite, out: Output): void {
  const [first] = Object.entries({ client, user, group }).flatMap(([key, value]) => (value === undefined ? [] : key));
  if (first !== undefined)
    out.warn(
      safe`note: Gemini CLI also reads this file. It ignores the key "${toSafeLine(first)}", so the rule also applies in Gemini CLI`,
    );
  if (kind === "tool" || kind === "resource") return;
  const about = toVisibleLine(targetName({ server, tool }));
  out.warn(
    safe`note: Gemini CLI also reads this file. It ignores the key "kind", so in Gemini CLI the rule applies to the tools ${about}`,
  );
}

const mostTold = 5;

function tellOverruled(above: readonly OverruledRequest[], out: Output): void {
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
  const { server, tool, kind, argsPattern, client, user, group, readOnly } =
    command.opts<Readonly<Record<string, string | undefined>>>();
  const options = Object.entries({
    "--kind": kind === "tool" ? undefined : kind,
    "--server": server,
    "--tool": tool,
    "--args-pattern": argsPattern,
    "--client": client,
    "--user": user,
    "--group": group,
  });
  const given = options.flatMap(([flag, value]) => (value === undefined ? [] : `${flag} ${toShellWord(value)}`));
  const conditions = readOnly === undefined ? [] : ["--read-only"];
  return ["fairlead policy", word, ...operands.map(toShellWord), ...given, ...conditions].join(" ");
}

type RuledTool = Omit<OverruledRequest, "rule">;

/** Returns the cached tools that match a rule. If none matches, returns the tool that the rule names exactly. */
async function pairsOf(named: Subject, { server, tool }: RuleToWrite, host: Host): Promise<readonly RuledTool[]> {
  const { kind, client } = named;
  const principal = principalOf(named);
  if (kind !== "tool") return isWild(named.tool) ? [] : [{ ...named, principal }];
  const [isServer, isTool] = [namePattern(server).matches, namePattern(tool).matches];
  await host.recall();
  const matchingTools = host.states().flatMap(({ name }) => {
    const tools = isServer(name) ? (host.catalog(name)?.tools ?? []) : [];
    return tools.flatMap((one) =>
      isTool(one.name) ? [{ server: name, tool: one.name, kind, client, principal }] : [],
    );
  });
  const isExact = !/[*?]/.test(named.server + named.tool);
  return matchingTools.length === 0 && isExact ? [{ ...named, principal }] : matchingTools;
}

// `fairlead policy remove`: removes rules from the user's policy files, and the saved approval of a tool.

const remove: Verb = {
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
    command.option("--read-only", "remove the rule that was written with --read-only");
  },

  async run(context) {
    const configuration = await configurationOf(context);
    const ruleLine = placeIn(context.operands[0]);
    if (ruleLine !== undefined) return removeAt(ruleLine, configuration, context);
    await useHost(configuration, context, async (host) => {
      await warnOfPolicyProblems(host, context);
      const subject = await readSubject(host, configuration, context);
      await removeAbout(subject, host, configuration, context);
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
  const removed = await removeRules(file, (rule) => ruleLine.line >= rule.line && ruleLine.line <= rule.lastLine);
  if (removed.length === 0)
    throw new HostError("usage", `${file}:${ruleLine.line} has no [[rule]] there`, { next: "fairlead policy list" });
  reportRemoval([{ file, rules: removed }], 0, configuration, context);
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function removeAbout(
  subject: Subject,
  host: Host,
  configuration: Configuration,
  context: Context,
): Promise<void> {
  const { server, tool, kind, client, user, group } = subject;
  const { argsPattern, readOnly } = context.command.opts<Conditions>();
  const condition = { argsPattern, client, user, group, readOnly };
  // A rule escapes `*` in a tool's name, but not in a pattern. The user types `*` for both, so both spellings match.
  const spellings = [tool, escapeName(tool)].flatMap((one) =>
    [server, escapeName(server)].map((name) => ({ server: name, tool: one, kind, ...condition })),
  );
  const { files } = await loadPolicies(configuration);
  const isMeant = (rule: RuleInFile): boolean => spellings.some((about) => isAbout(rule, about));
  const own = files.filter(({ tier }) => tier === "user");
  const removed = await Promise.all(own.map(({ file }) => removeFrom(file, isMeant)));
  const found = removed.filter(({ rules }) => rules.length > 0);
  const isWhole =
    (kind === "tool" || kind === "host") && [argsPattern, user, group].every((one) => one === undefined) && !readOnly;
  const { state } = configuration.locations;
  const savedApprovals = isWhole ? await readToolApprovals(state) : [];
  const isHost = savedApprovals.some((each) => each.server === server && each.tool === tool && each.kind === "host");
  const approvals = isWhole ? await forgetApprovalsNamed(state, server, tool, client) : 0;
  if (found.length === 0 && approvals === 0) throw await nothingFound(subject, host);
  reportRemoval(found, approvals, configuration, context);
  if (!context.globals.json && !/[*?]/.test(server + tool))
    await tellDecision(isHost ? { ...subject, kind: "host" } : subject, host, context);
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
  const { server, tool, kind } = subject;
  const { matching } = await host.explain(server, kind === "sampling" ? "" : tool, undefined, decideOptions(subject));
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

async function tellDecision(subject: Subject, host: Host, { out }: Context): Promise<void> {
  const { server, tool, kind } = subject;
  const { decision } = await host.explain(server, kind === "sampling" ? "" : tool, undefined, decideOptions(subject));
  out.say(safe`now: ${decisionWord(decision.decision, out.style)}: ${reasonText(decision.rule)}`);
}

interface Removed {
  readonly file: string;
  readonly rules: readonly RemovedRule[];
}

function reportRemoval(
  removed: readonly Removed[],
  /** Number of saved approvals that were removed. */
  approvals: number,
  { servers }: Configuration,
  { out, globals }: Context,
): void {
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

const wordOf: ReadonlyMap<unknown, string> = new Map([
  ["allow", "allow"],
  ["ask_user", "ask"],
  ["deny", "deny"],
]);

function nameOf({ mcpName = "*", toolName = "*", kind, decision, ...members }: RemovedRule["members"]): string {
  const tool = Array.isArray(toolName) ? toolName.join("|") : String(toolName);
  const about = subjectName({ server: String(mcpName), tool, kind: isKind(kind) ? kind : undefined });
  return `${wordOf.get(decision) ?? "rule"} ${about}${senderText(sendersOf(members))}`;
}

function sendersOf({ client, user, group }: RemovedRule["members"]): Senders {
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { client: text(client), user: text(user), group: text(group) };
}

/** Whose requests a rule is about, such as ` for client codex`. Empty for everybody. */
function senderText({ client, user, group }: Senders): string {
  const named = Object.entries({ client, user, group }).flatMap(([what, name]) => (name ? [`${what} ${name}`] : []));
  return named.length === 0 ? "" : ` for ${named.join(", ")}`;
}

function isKind(value: unknown): value is RequestKind {
  return (
    value === "tool" ||
    value === "resource" ||
    value === "prompt" ||
    value === "sampling" ||
    value === "skill" ||
    value === "host"
  );
}

/** Returns the command that writes the removed rule again. Undefined if no command can write this rule. */
function commandFor(members: RemovedRule["members"], names: readonly string[]): string | undefined {
  const {
    mcpName,
    toolName,
    kind,
    argsPattern,
    client: _,
    user: __,
    group: ___,
    decision,
    priority,
    ...more
  } = members;
  const senders = sendersOf(members);
  const word = wordOf.get(decision);
  if (word === undefined || typeof mcpName !== "string" || typeof toolName !== "string") return undefined;
  const pattern: Parameters<typeof usualPriority>[0] = {
    tool: toolName,
    argsPattern: typeof argsPattern === "string" ? argsPattern : undefined,
    ...senders,
  };
  if (Object.keys(more).length > 0 || priority !== usualPriority(pattern)) return undefined;
  // `fairlead policy` commands do not accept names with a backslash escape.
  if (/\\/.test(mcpName + toolName)) return undefined;
  const isPlain = names.filter((name) => `${mcpName}.${toolName}`.startsWith(`${name}.`)).join() === mcpName;
  return [
    `fairlead policy ${word}`,
    ...(isKind(kind) && kind !== "tool" ? [`--kind ${kind}`] : []),
    isPlain
      ? toShellWord(`${mcpName}.${toolName}`)
      : `--server ${toShellWord(mcpName)} --tool ${toShellWord(toolName)}`,
    ...Object.entries(senders).flatMap(([what, name]) => (name ? [`--${what} ${toShellWord(name)}`] : [])),
    ...(typeof argsPattern === "string" ? [`--args-pattern ${toShellWord(argsPattern)}`] : []),
  ].join(" ");
}

/** The commands `fairlead policy allow`, `ask` and `deny`. */
export const verbs: Readonly<Record<"allow" | "ask" | "deny" | "remove", Verb>> = {
  allow: createRuleVerb("allow"),
  ask: createRuleVerb("ask_user"),
  deny: createRuleVerb("deny"),
  remove,
};
