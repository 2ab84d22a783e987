/**
 * Writes a rule into a policy file of the user. The rest of the file stays unchanged, byte for byte. A file with a
 * syntax error is not changed.
 */

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorMessage } from "@fairlead/wire/text";
import type { AST } from "toml-eslint-parser";
import { HostError } from "../../errors.ts";
import { privateFileMode } from "../../files/atomic/private-folder.ts";
import { updateText } from "../../files/atomic/update-text.ts";
import {
  keyWords,
  type TextRange,
  type TomlText,
  tomlParser,
  tomlTable,
  withoutLines,
  withTable,
} from "../../files/toml-edit.ts";
import { limits } from "../../limits.ts";
import type { Locations } from "../../settings/read/paths.ts";
import { everyResource } from "./name-pattern.ts";
import type { DecisionOutcome, RequestKind } from "./rule.ts";

/** The rule to write. Names are patterns, as in a policy file: `*`, `?` and `\` have a special meaning. */
export interface RuleToWrite {
  readonly server: string;
  /** The name or pattern of tools, resources or prompts. `*` means all of them. */
  readonly tool: string;
  /** The kind of requests that the rule covers. Default: `tool`. */
  readonly kind?: RequestKind;
  readonly argsPattern?: string;
  /** The gateway client whose requests the rule covers. By default, the rule covers the requests of all senders. */
  readonly client?: string;
  /** The user whose requests the rule covers, where several people share a program (`RequestingUser.user`). */
  readonly user?: string;
  /** The group of users whose requests the rule covers. */
  readonly group?: string;
  /** Whether the rule covers only tools whose servers claim that they read only (`readOnlyHint`). */
  readonly readOnly?: boolean;
  readonly decision: DecisionOutcome;
}

/** The position of the written rule in the file. */
export interface WrittenRule {
  readonly file: string;
  /** The line of the rule's `[[rule]]`. */
  readonly line: number;
  /** The decision that the rule had before, if the file already had a rule for the same requests. */
  readonly replaced?: string;
}

/** The file for rules that the user adds with commands. */
export function userRuleFile({ policies }: Pick<Locations, "policies">): string {
  return join(policies.user, "fairlead.toml");
}

/**
 * Adds a rule. If the file already has rules for the same requests, changes their decision instead.
 *
 * @throws HostError `settings_invalid` if the file is not valid TOML, `too_large`, `busy`, `internal` if the file
 * cannot be written
 */
export async function writeRule(file: string, rule: RuleToWrite): Promise<WrittenRule> {
  const lines = tomlTable("[[rule]]", toMembers(rule));
  const parse = await rulesParser(file);
  let written: WrittenRule = { file, line: 1 };

  function change(text = introduction): string {
    const { bom, body, rules } = parse(text);
    const same = rules.filter((found) => isAbout(found, rule));
    const [first] = same;
    if (first !== undefined) {
      const replaced = first.value("decision");
      written = { file, line: first.line, replaced: typeof replaced === "string" ? replaced : undefined };
      return bom + withDecision(body, same, rule.decision);
    }
    const after = withTable(text, lines);
    // Parses the new text, because TOML does not allow a `[[rule]]` after, for example, `rule = []`.
    const { line = 1 } = parse(after).rules.at(-1) ?? {};
    if (Buffer.byteLength(after) > limits.policyBytes)
      throw new HostError(
        "too_large",
        `${file} would grow beyond ${limits.policyBytes} bytes; the file was not changed`,
      );
    written = { file, line };
    return after;
  }

  await updateText(file, change, { mode: privateFileMode });
  return written;
}

const introduction = `# Rules about MCP servers, written by "fairlead policy allow|deny|ask" and editable by hand. fairlead policy list shows the rules in force.\n`;

/**
 * The members that `fairlead policy` writes. If a rule has any other member, `fairlead policy` does not change the
 * rule.
 */
const comparable = new Set([
  "mcpName",
  "toolName",
  "kind",
  "client",
  "user",
  "group",
  "argsPattern",
  "decision",
  "priority",
  "denyMessage",
]);

const readOnlyAnnotations = { readOnlyHint: true };

/** A `[[rule]]` in the text of a policy file. */
export interface RuleInFile {
  /** The line of the rule's `[[rule]]`. */
  readonly line: number;
  readonly lastLine: number;
  /** The start and end of the rule's text, including its own tables, such as `[rule.annotations]`. */
  readonly range: readonly [start: number, end: number];
  /** The members of the rule by name. `annotations.readOnlyHint` belongs to the member `annotations`. */
  readonly members: ReadonlyMap<string, AST.TOMLContentNode>;
  /** The value of a member. Undefined if the rule has no such member. */
  readonly value: (name: string) => unknown;
}

/**
 * Returns a function that finds the rules in a text. The function throws `settings_invalid` if the text is not valid
 * TOML.
 */
async function rulesParser(
  file: string,
): Promise<(text: string) => TomlText & { readonly rules: readonly RuleInFile[] }> {
  const parse = await tomlParser();
  return (text) => {
    try {
      const parsed = parse(text);
      return { ...parsed, rules: rulesOf(parsed) };
    } catch (cause) {
      throw notEditable(file, cause);
    }
  };
}

function rulesOf({ nodes, toValue }: TomlText): readonly RuleInFile[] {
  const rules: { line: number; lastLine: number; range: TextRange; members: Map<string, AST.TOMLContentNode> }[] = [];
  for (const node of nodes) {
    if (node.type !== "TOMLTable" || node.resolvedKey[0] !== "rule") continue;
    const [, , inner] = node.resolvedKey;
    const [line, lastLine] = [node.loc.start.line, node.loc.end.line];
    if (node.kind === "array" && inner === undefined)
      rules.push({ line, lastLine, range: node.range, members: new Map() });
    const rule = rules.at(-1);
    if (rule !== undefined) Object.assign(rule, { lastLine, range: [rule.range[0], node.range[1]] });
    for (const { key, value } of node.body) rule?.members.set(String(inner ?? keyWords(key)[0]), value);
  }
  return rules.map((rule) => ({
    ...rule,
    value(name) {
      const node = rule.members.get(name);
      return node && toValue(node);
    },
  }));
}

/** Whether a rule is about exactly these requests. False for a rule with an additional condition. */
export function isAbout(
  { members, value }: RuleInFile,
  { server, tool, kind = "tool", argsPattern, client, user, group, readOnly = false }: Omit<RuleToWrite, "decision">,
): boolean {
  return (
    [...members.keys()].every((name) => comparable.has(name) || (readOnly && name === "annotations")) &&
    isDeepStrictEqual(value("annotations"), readOnly ? readOnlyAnnotations : undefined) &&
    value("mcpName") === server &&
    value("toolName") === tool &&
    (value("kind") ?? "tool") === kind &&
    value("argsPattern") === argsPattern &&
    value("client") === client &&
    value("user") === user &&
    value("group") === group &&
    members.has("decision")
  );
}

/** Changes the last rule first, so that the positions of the rules before it stay valid. */
function withDecision(text: string, rules: readonly RuleInFile[], decision: DecisionOutcome): string {
  return rules.reduceRight((before, { members }) => {
    const [start, end] = members.get("decision")?.range ?? [0, 0];
    return `${before.slice(0, start)}"${decision}"${before.slice(end)}`;
  }, text);
}

/**
 * Priorities of the rules that Fairlead writes. A rule for fewer requests is stronger, so the order does not matter:
 * "allow all tools of the server" and "deny this tool" work together.
 */
const priorities = { server: 100, tool: 200, arguments: 300 } as const;
/**
 * Added to the priority of a rule about one client, user or group. Such a rule is stronger than the same rule for all
 * of them, but weaker than a rule about fewer tools: the three together are less than the difference between those.
 */
const senderPriorities = { client: 50, user: 30, group: 10 } as const;

/** The priority that Fairlead writes for a rule about these requests. */
export function usualPriority(rule: Pick<RuleToWrite, "tool" | "argsPattern" | keyof typeof senderPriorities>): number {
  const { tool, argsPattern, client, user, group } = rule;
  const extra =
    (client === undefined ? 0 : senderPriorities.client) +
    (user === undefined ? 0 : senderPriorities.user) +
    (group === undefined ? 0 : senderPriorities.group);
  if (argsPattern !== undefined) return priorities.arguments + extra;
  return (tool === "*" || tool === everyResource ? priorities.server : priorities.tool) + extra;
}

/** The members of the rule in a file. @throws HostError `usage` for a text that a policy file cannot contain */
function toMembers(rule: RuleToWrite): Readonly<Record<string, unknown>> {
  const { server, tool, kind = "tool", argsPattern, client, user, group, readOnly = false, decision } = rule;
  for (const text of [server, tool, client, user, group, argsPattern]) if (text !== undefined) checkText(text);
  return {
    mcpName: server,
    toolName: tool,
    kind: kind === "tool" ? undefined : kind,
    client,
    user,
    group,
    argsPattern,
    annotations: readOnly ? readOnlyAnnotations : undefined,
    decision,
    priority: usualPriority(rule),
  };
}

function checkText(text: string): void {
  if (text === "" || text.length > limits.policyText)
    throw new HostError("usage", `a name in a rule must have 1 to ${limits.policyText} characters`);
  if (/\p{Cs}/u.test(text))
    throw new HostError("usage", `"${text}" contains half a surrogate pair, which a policy file cannot contain`);
}

function notEditable(file: string, cause: unknown): HostError {
  const line = cause instanceof Error && "lineNumber" in cause ? `:${String(cause.lineNumber)}` : "";
  const reason = errorMessage(cause);
  return new HostError("settings_invalid", `${file}${line}: ${reason}; the file was not changed`, {
    next: `Correct ${file}, or move it away, then try again.`,
    cause,
  });
}

/** A rule that was removed. */
export interface RemovedRule {
  /** The line of the rule's `[[rule]]` before the removal. */
  readonly line: number;
  /** The members of the rule, as written. */
  readonly members: Readonly<Record<string, unknown>>;
}

/**
 * Removes the rules that `isMeant` selects, and the comments inside them. Comments above a rule stay.
 *
 * @throws HostError `settings_invalid` if the file is not valid TOML, `busy`, `internal` if it cannot be written
 */
export async function removeRules(
  file: string,
  isMeant: (rule: RuleInFile) => boolean,
): Promise<readonly RemovedRule[]> {
  const parse = await rulesParser(file);
  let removed: readonly RemovedRule[] = [];
  await updateText(file, (text) => {
    if (text === undefined) return undefined;
    const { bom, body, rules } = parse(text);
    const found = rules.filter(isMeant);
    removed = found.map(({ line, members, value }) => ({
      line,
      members: Object.fromEntries([...members.keys()].map((name) => [name, value(name)])),
    }));
    return bom + found.reduceRight((before, { range }) => withoutLines(before, range), body);
  });
  return removed;
}
