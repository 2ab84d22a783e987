/** Writes a rule of the user's into a policy file and leaves the rest of it alone, byte for byte. A file with a mistake in its syntax is not touched. */

import { join } from "node:path";
import { errorMessage } from "@fairlead/wire/text";
import type { AST } from "toml-eslint-parser";
import { HostError } from "../../errors.ts";
import { privateFileMode } from "../../files/atomic/private-folder.ts";
import { updateText } from "../../files/atomic/update-text.ts";
import { eolOf } from "../../files/json/text-layout.ts";
import { limits } from "../../limits.ts";
import type { Locations } from "../../settings/read/paths.ts";
import type { DecisionOutcome } from "./rule.ts";

/** Names are patterns, as in the file: `*`, `?` and `\\` have a meaning in them. */
export interface RuleToWrite {
  readonly server: string;
  /** `*`: every tool. */
  readonly tool: string;
  readonly argsPattern?: string;
  readonly decision: DecisionOutcome;
}

export interface WrittenRule {
  readonly file: string;
  /** Of its `[[rule]]`. */
  readonly line: number;
  /** What an earlier rule about the same said; the same decision again writes nothing. */
  readonly replaced?: string;
}

/** Where rules are written that a person types. */
export function userRuleFile({ policies }: Pick<Locations, "policies">): string {
  return join(policies.user, "fairlead.toml");
}

/** A second word about the same replaces the first. */
export async function writeRule(file: string, rule: RuleToWrite): Promise<WrittenRule> {
  const { parseTOML, getStaticTOMLValue } = await import("toml-eslint-parser");
  const lines = toLines(rule);
  let written: WrittenRule = { file, line: 1 };

  function parse(text: string): AST.TOMLProgram {
    try {
      return parseTOML(text);
    } catch (cause) {
      throw notEditable(file, cause);
    }
  }

  function change(text: string | undefined): string {
    // The parser takes a byte order mark for a mistake.
    const mark = text?.startsWith("\uFEFF") ? "\uFEFF" : "";
    const before = text?.slice(mark.length) ?? introduction;
    const same = rulesOf(parse(before)).filter((found) => isAbout(found, rule, getStaticTOMLValue));
    const [first] = same;
    if (first !== undefined) {
      const earlier = first.members.get("decision");
      const replaced = earlier && getStaticTOMLValue(earlier);
      written = { file, line: first.line, ...(typeof replaced === "string" && { replaced }) };
      return mark + withDecision(before, same, rule.decision);
    }
    const eol = eolOf(before);
    const start = spaced(before, eol);
    const after = start + lines.map((line) => line + eol).join("");
    // Where rules are written in another form, none can be added in this one.
    parse(after);
    if (Buffer.byteLength(after) > limits.policyBytes)
      throw new HostError("too_large", `${file} would grow beyond ${limits.policyBytes} bytes; it was left as it is`);
    written = { file, line: start.split("\n").length };
    return mark + after;
  }

  await updateText(file, change, { mode: privateFileMode });
  return written;
}

const introduction = `# Rules about MCP servers, written by "fairlead policy allow|deny|ask" and yours to edit. fairlead policy list shows what counts.\n`;

/** A rule with other conditions is another rule, whoever it is about. */
const comparable = new Set(["mcpName", "toolName", "argsPattern", "decision", "priority", "denyMessage"]);

interface FoundRule {
  readonly line: number;
  /** By the first part of their keys. */
  readonly members: ReadonlyMap<string, AST.TOMLContentNode>;
}

function rulesOf({ body: [top] }: AST.TOMLProgram): readonly FoundRule[] {
  const rules: { line: number; members: Map<string, AST.TOMLContentNode> }[] = [];
  for (const node of top.body) {
    if (node.type !== "TOMLTable" || node.resolvedKey[0] !== "rule") continue;
    const [, , inner] = node.resolvedKey;
    if (node.kind === "array" && inner === undefined) rules.push({ line: node.loc.start.line, members: new Map() });
    for (const { key, value } of node.body) {
      const [part] = key.keys;
      const name = part?.type === "TOMLBare" ? part.name : part?.value;
      rules.at(-1)?.members.set(String(inner ?? name), value);
    }
  }
  return rules;
}

function isAbout(
  { members }: FoundRule,
  { server, tool, argsPattern }: RuleToWrite,
  toValue: (node: AST.TOMLContentNode) => unknown,
): boolean {
  const says = (name: string): unknown => {
    const node = members.get(name);
    return node && toValue(node);
  };
  return (
    [...members.keys()].every((name) => comparable.has(name)) &&
    says("mcpName") === server &&
    says("toolName") === tool &&
    says("argsPattern") === argsPattern &&
    members.has("decision")
  );
}

/** From the last to the first, so that places stay where they were. */
function withDecision(text: string, rules: readonly FoundRule[], decision: DecisionOutcome): string {
  return rules.reduceRight((before, { members }) => {
    const [start, end] = members.get("decision")?.range ?? [0, 0];
    return `${before.slice(0, start)}"${decision}"${before.slice(end)}`;
  }, text);
}

/** One empty line between what is there and what comes. */
function spaced(text: string, eol: string): string {
  if (text.trim() === "" || text.endsWith(eol + eol)) return text;
  return text.endsWith(eol) ? text + eol : text + eol + eol;
}

/** The narrower a rule, the stronger: "all of the server, but for this tool" can be said in any order. */
const priorities = { server: 100, tool: 200, arguments: 300 } as const;

function toLines({ server, tool, argsPattern, decision }: RuleToWrite): readonly string[] {
  const width = argsPattern === undefined ? (tool === "*" ? "server" : "tool") : "arguments";
  return [
    "[[rule]]",
    `mcpName = ${quoted(server)}`,
    `toolName = ${quoted(tool)}`,
    ...(argsPattern === undefined ? [] : [`argsPattern = ${quoted(argsPattern)}`]),
    `decision = "${decision}"`,
    `priority = ${priorities[width]}`,
  ];
}

const hidden = "\\p{C}|(?! )\\p{Z}";

/** What cannot be seen is written by its number, so that whoever reads the file sees it. */
function quoted(text: string): string {
  if (text === "" || text.length > limits.policyText)
    throw new HostError("usage", `a rule names something of 1 to ${limits.policyText} characters`);
  if (/\p{Cs}/u.test(text))
    throw new HostError("usage", `"${text}" has half a character in it, which no rule can name`);
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
