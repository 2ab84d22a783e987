/**
 * Writes a rule into a policy file of the user. The rest of the file stays unchanged, byte for byte. A file with a
 * syntax error is not changed.
 */

import { join } from "node:path";
import { errorMessage } from "@fairlead/wire/text";
import type { AST } from "toml-eslint-parser";
import { HostError } from "../../errors.ts";
import { privateFileMode } from "../../files/atomic/private-folder.ts";
import { updateText } from "../../files/atomic/update-text.ts";
import { eolOf } from "../../files/json/text-layout.ts";
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
  const lines = toLines(rule);
  const parse = await rulesParser(file);
  let written: WrittenRule = { file, line: 1 };

  function change(text: string | undefined): string {
    // Removes the byte order mark, because the parser rejects it.
    const bom = text?.startsWith("\uFEFF") ? "\uFEFF" : "";
    const before = text?.slice(bom.length) ?? introduction;
    const same = parse(before).filter((found) => isAbout(found, rule));
    const [first] = same;
    if (first !== undefined) {
      const replaced = first.value("decision");
      written = { file, line: first.line, ...(typeof replaced === "string" && { replaced }) };
      return bom + withDecision(before, same, rule.decision);
    }
    const eol = eolOf(before);
    const start = spaced(before, eol);
    const after = start + lines.map((line) => line + eol).join("");
    // Checks the new text, because TOML does not allow a `[[rule]]` after, for example, `rule = []`.
    parse(after);
    if (Buffer.byteLength(after) > limits.policyBytes)
      throw new HostError(
        "too_large",
        `${file} would grow beyond ${limits.policyBytes} bytes; the file was not changed`,
      );
    written = { file, line: start.split("\n").length };
    return bom + after;
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
  "argsPattern",
  "decision",
  "priority",
  "denyMessage",
]);

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
async function rulesParser(file: string): Promise<(text: string) => readonly RuleInFile[]> {
  const { parseTOML, getStaticTOMLValue } = await import("toml-eslint-parser");
  return (text) => {
    try {
      return rulesOf(parseTOML(text), getStaticTOMLValue);
    } catch (cause) {
      throw notEditable(file, cause);
    }
  };
}

function rulesOf(
  { body: [top] }: AST.TOMLProgram,
  toValue: (node: AST.TOMLContentNode) => unknown,
): readonly RuleInFile[] {
  const rules: {
    line: number;
    lastLine: number;
    range: [number, number];
    members: Map<string, AST.TOMLContentNode>;
  }[] = [];
  for (const node of top.body) {
    if (node.type !== "TOMLTable" || node.resolvedKey[0] !== "rule") continue;
    const [, , inner] = node.resolvedKey;
    const [start, end] = node.range;
    const [line, lastLine] = [node.loc.start.line, node.loc.end.line];
    if (node.kind === "array" && inner === undefined)
      rules.push({ line, lastLine, range: [start, end], members: new Map() });
    const rule = rules.at(-1);
    if (rule !== undefined) Object.assign(rule, { lastLine, range: [rule.range[0], end] });
    for (const { key, value } of node.body) {
      const [part] = key.keys;
      const name = part?.type === "TOMLBare" ? part.name : part?.value;
      rule?.members.set(String(inner ?? name), value);
    }
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
  { server, tool, kind = "tool", argsPattern, client }: Omit<RuleToWrite, "decision">,
): boolean {
  return (
    [...members.keys()].every((name) => comparable.has(name)) &&
    value("mcpName") === server &&
    value("toolName") === tool &&
    (value("kind") ?? "tool") === kind &&
    value("argsPattern") === argsPattern &&
    value("client") === client &&
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

/** Makes the text end with one empty line. */
function spaced(text: string, eol: string): string {
  if (text.trim() === "" || text.endsWith(eol + eol)) return text;
  return text.endsWith(eol) ? text + eol : text + eol + eol;
}

/**
 * Priorities of the rules that Fairlead writes. A rule for fewer requests is stronger, so the order does not matter:
 * "allow all tools of the server" and "deny this tool" work together.
 */
const priorities = { server: 100, tool: 200, arguments: 300 } as const;
/**
 * Added to the priority of a rule about one client. Such a rule is stronger than the same rule for all clients, but
 * weaker than a rule about fewer tools.
 */
const clientPriority = 50;

/** The priority that Fairlead writes for a rule about these requests. */
export function usualPriority(rule: Pick<RuleToWrite, "tool" | "argsPattern" | "client">): number {
  const { tool, argsPattern, client } = rule;
  const extra = client === undefined ? 0 : clientPriority;
  if (argsPattern !== undefined) return priorities.arguments + extra;
  return (tool === "*" || tool === everyResource ? priorities.server : priorities.tool) + extra;
}

function toLines(rule: RuleToWrite): readonly string[] {
  const { server, tool, kind = "tool", argsPattern, client, decision } = rule;
  return [
    "[[rule]]",
    `mcpName = ${quoted(server)}`,
    `toolName = ${quoted(tool)}`,
    ...(kind === "tool" ? [] : [`kind = "${kind}"`]),
    ...(client === undefined ? [] : [`client = ${quoted(client)}`]),
    ...(argsPattern === undefined ? [] : [`argsPattern = ${quoted(argsPattern)}`]),
    `decision = "${decision}"`,
    `priority = ${usualPriority(rule)}`,
  ];
}

const hidden = "\\p{C}|(?! )\\p{Z}";

/** Writes a text as TOML. Writes invisible characters as escapes, so that people who read the file see them. */
function quoted(text: string): string {
  if (text === "" || text.length > limits.policyText)
    throw new HostError("usage", `a name in a rule must have 1 to ${limits.policyText} characters`);
  if (/\p{Cs}/u.test(text))
    throw new HostError("usage", `"${text}" contains half a surrogate pair, which a policy file cannot contain`);
  if (/["\\]/.test(text) && !new RegExp(`'|${hidden}`, "u").test(text)) return `'${text}'`;
  return `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll(new RegExp(hidden, "gu"), numbered)}"`;
}

function numbered(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
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
    // Removes the byte order mark, because the parser rejects it.
    const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    const before = text.slice(bom.length);
    const found = parse(before).filter(isMeant);
    removed = found.map(({ line, members, value }) => ({
      line,
      members: Object.fromEntries([...members.keys()].map((name) => [name, value(name)])),
    }));
    return bom + found.reduceRight(without, before);
  });
  return removed;
}

/** Removes the lines of a rule, and one empty line before them, which Fairlead adds together with a rule. */
function without(text: string, { range: [start, end] }: RuleInFile): string {
  const eol = eolOf(text);
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", end);
  const head = text.slice(0, lineStart);
  const rest = lineEnd === -1 ? "" : text.slice(lineEnd + 1);
  if (head === "") return rest.startsWith(eol) ? rest.slice(eol.length) : rest;
  return (head.endsWith(eol + eol) ? head.slice(0, -eol.length) : head) + rest;
}
