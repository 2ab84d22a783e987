/**
 * Reads one policy file. Returns its rules, and its mistakes with their positions. If a file cannot be read, decisions
 * become stricter.
 */

import type { AST } from "toml-eslint-parser";
import { readText } from "../../files/read-text.ts";
import { keyWords } from "../../files/toml-edit.ts";
import { limits } from "../../limits.ts";
import type { Problem, Scope } from "../../settings/define/definition.ts";
import { closest } from "../../text/closest.ts";
import { exactName, type NamePattern, namePattern } from "./name-pattern.ts";
import type { ApprovalMode, ArgsPattern, DecisionOutcome, PolicyRule, RequestKind, Tier } from "./rule.ts";

/** The tiers that have policy files. */
export type FileTier = Extract<Tier, "administrator" | "user" | "workspace">;

/** The rules and problems of one policy file. */
export interface ReadPolicyFile {
  readonly state: "read" | "broken";
  readonly rules: readonly PolicyRule[];
  readonly problems: readonly Problem[];
}

/** The tier of the file, and the servers that its rules can name. */
export interface PolicyFileOptions {
  readonly tier: FileTier;
  /** Names of the configured servers. */
  readonly servers: readonly string[];
}

/** Reads a policy file. Undefined if the file no longer exists. */
export async function readPolicyFile(file: string, options: PolicyFileOptions): Promise<ReadPolicyFile | undefined> {
  const read = await readText(file, limits.policyBytes);
  // The file was deleted after its folder was listed.
  if (read.kind === "absent") return undefined;
  if (read.kind === "unreadable") return unreadable(file, options.tier, `cannot be read: ${read.reason}`);
  return readPolicyText(read.text, file, options);
}

/**
 * Reads the text of a policy file.
 *
 * @param file What messages and rules call the text: the path of its file, or another name.
 */
export async function readPolicyText(text: string, file: string, options: PolicyFileOptions): Promise<ReadPolicyFile> {
  const { tier } = options;
  const document = await parseToml(text);
  if (document.kind === "broken") return unreadable(file, tier, `is not valid TOML: ${document.reason}`, document);
  const { rules, problems, isDoubtful } = await rulesOf(document.table, file, options);
  if (rules.length <= limits.policyRules) return { state: isDoubtful ? "broken" : "read", rules, problems };
  return unreadable(file, tier, `contains more than ${limits.policyRules} rules`);
}

/**
 * The result for a file that cannot be read. If it belongs to the administrator, every request is denied. Otherwise
 * every request needs confirmation.
 */
export function unreadable(
  file: string,
  tier: FileTier,
  reason: string,
  at: TextPosition = { line: 1, column: 1 },
): ReadPolicyFile {
  const origin = originOf(file, tier, at);
  const message = `${file} ${reason}`;
  const next = `Correct ${file}. Until then its rules are unknown, so ${effects[tier]}.`;
  return {
    state: "broken",
    rules: [doubtAbout(file, tier, `the file ${reason}, so ${effects[tier]}`, at)],
    problems: [{ severity: "error", code: "settings_invalid", message, origin, next }],
  };
}

const effects: Readonly<Record<FileTier, string>> = {
  administrator: "every request is denied",
  user: "every request needs confirmation",
  workspace: "every request needs confirmation",
};

/** The rule that takes the place of rules that Fairlead could not read. */
function doubtAbout(file: string, tier: FileTier, problem: string, { line }: TextPosition): PolicyRule {
  return {
    tier,
    decision: tier === "administrator" ? "deny" : "ask_user",
    priority: 999,
    isDoubt: true,
    denyMessage: problem,
    origin: { source: "policy_file", file, line, name: "unreadable" },
  };
}

async function rulesOf(
  table: TomlTable,
  file: string,
  { tier, servers }: PolicyFileOptions,
): Promise<Pick<ReadPolicyFile, "rules" | "problems"> & { readonly isDoubtful: boolean }> {
  const problems: Problem[] = [];
  const doubts: PolicyRule[] = [];
  function report(severity: Problem["severity"], at: TextPosition, message: string, next?: string): void {
    const origin = originOf(file, tier, at);
    problems.push({ severity, code: "settings_invalid", message, origin, next });
  }
  /* The user may have meant this table to deny something, so Fairlead adds a rule that makes decisions stricter. */
  function doubt(at: TextPosition, problem: string, how: string): void {
    const message = `${problem}, so ${effects[tier]}`;
    report("error", at, message, how);
    doubts.push(doubtAbout(file, tier, `${message}. ${how}`, at));
  }
  const found = [...table].flatMap(([name, item]) => tablesOf(name, item, report, doubt));
  const compile = await compilerFor(found);
  const rules = found.flatMap(({ rule, at, isDoubtful }) =>
    readRule(rule, at, { tier, file, servers, compile, report, isDoubtful }),
  );
  return { rules: [...doubts, ...rules], problems, isDoubtful: doubts.length > 0 };
}

interface FoundRule {
  readonly rule: TomlTable;
  readonly at: TextPosition;
  readonly isDoubtful: boolean;
}

/** Tables in Gemini CLI's policy files that are not rules. */
const theirTables = ["safety_checker"];

/**
 * Finds the `[[rule]]` tables. Also finds tables that were probably meant as rules. Such a table can only deny or ask.
 */
function tablesOf(
  name: string,
  { value, ...at }: TomlItem,
  report: (severity: "error", at: TextPosition, message: string, next: string) => void,
  doubt: (at: TextPosition, problem: string, how: string) => void,
): readonly FoundRule[] {
  if (theirTables.includes(name)) return [];
  if (closest(name, ["rule"]) === undefined) {
    const decision = decisions.find((one) => one.startsWith(name.toLowerCase()));
    const how = decision === undefined ? "Write rules as [[rule]]." : `Write [[rule]] with decision = "${decision}".`;
    doubt(at, `"${name}" is not a known table of a policy file and may be meant to deny something`, how);
    return [];
  }
  const isDoubtful = name !== "rule" || !Array.isArray(value);
  if (isDoubtful)
    report("error", at, `"${name}" is not a list of rules: only its deny and ask_user rules count`, "Write [[rule]].");
  const items: readonly TomlItem[] = Array.isArray(value) ? value : [{ value, ...at }];
  return items.flatMap(({ value: rule, ...position }) => {
    if (isTable(rule)) return [{ rule, at: position, isDoubtful }];
    doubt(position, 'an entry of "rule" is not a table and may be meant to deny something', "Write [[rule]].");
    return [];
  });
}

const decisions: readonly DecisionOutcome[] = ["allow", "ask_user", "deny"];

/** Loads the pattern engine only if a rule has a pattern. */
async function compilerFor(found: readonly FoundRule[]): Promise<(pattern: string) => ArgsPattern | string> {
  const isNeeded = found.some(({ rule }) =>
    [...rule.keys()].some((name) => closest(name, ["argsPattern"]) !== undefined),
  );
  if (!isNeeded) return () => "the engine for patterns is not loaded";
  const { compileArgsPattern } = await import("./args-pattern.ts");
  return compileArgsPattern;
}

const scopes: Readonly<Record<FileTier, Scope>> = { administrator: "system", user: "user", workspace: "workspace" };

function originOf(file: string, tier: FileTier, { line, column }: TextPosition): NonNullable<Problem["origin"]> {
  return { scope: scopes[tier], file, line, column };
}

interface RuleContext {
  readonly tier: Tier;
  readonly file: string;
  /** Names of the configured servers, to find the server in a tool name such as `mcp_SERVER_TOOL`. */
  readonly servers: readonly string[];
  readonly compile: (pattern: string) => ArgsPattern | string;
  /**
   * Reports a problem. `error` means that Fairlead ignores a part of the file, or applies it more strictly than
   * written.
   */
  readonly report: (severity: "error" | "warning", at: TextPosition, message: string, next?: string) => void;
  /** True if the table is perhaps not meant as a rule. Such a table can only deny or ask. */
  readonly isDoubtful?: boolean;
}

/** Keys of Gemini CLI's rules about its shell and its agents. Such rules do not concern MCP servers. */
const aboutOtherThings = ["commandPrefix", "commandRegex", "allowRedirection", "allow_redirection", "subagent"];

/** Reads one rule table. Reports problems with `context.report`. */
function readRule(table: TomlTable, start: TextPosition, context: RuleContext): readonly PolicyRule[] {
  // With `mcpName`, keys about a shell are mistakes, because an MCP server has no shell.
  if (!table.has("mcpName") && aboutOtherThings.some((name) => table.has(name))) return [];
  const mistakes: { at: TextPosition; message: string; next: string | undefined }[] = [];
  const fields = createRuleFields(table, start, (at, message, next) => mistakes.push({ at, message, next }));
  const decision = decisionOf(fields);
  const rule = { ...conditionsOf(fields, context.compile), decision, tier: context.tier };
  if (rule.approver !== undefined && decision !== "ask_user")
    fields.mistake("approver", "says who confirms a request, so the rule must ask", 'Write decision = "ask_user".');
  const [server, tools] = [fields.text("mcpName"), fields.texts("toolName")];

  if (context.tier === "workspace" && decision === "allow") {
    const message = "a workspace may only add restrictions: its allow rule is ignored";
    context.report("warning", start, message, "To use the rule, move it to your own policy files.");
    return [];
  }
  const effect = decision === "allow" ? "the rule is ignored" : "the rule is applied in its strictest meaning";
  for (const { at, message, next } of mistakes) context.report("error", at, `${message}; ${effect}`, next);
  const isDoubt = mistakes.length > 0 || context.isDoubtful === true;
  if (decision === "allow" && isDoubt) return [];
  // If `modes` names only modes that Fairlead does not have, the rule never applies.
  if (rule.modes?.length === 0) return [];
  const origin = { source: "policy_file", file: context.file, line: start.line } as const;
  return namedBy(server, tools, rule, fields, context).map((pair) => ({
    ...rule,
    ...pair,
    isDoubt: isDoubt ? true : undefined,
    origin,
  }));
}

function decisionOf(fields: RuleFields): DecisionOutcome {
  if (!fields.has("decision")) fields.mistake("decision", "is missing: write allow, ask_user or deny");
  return fields.oneOf("decision", ["allow", "ask_user", "deny"]) ?? "deny";
}

function conditionsOf(
  fields: RuleFields,
  compile: RuleContext["compile"],
): Omit<PolicyRule, "tier" | "decision" | "origin" | "server" | "tool"> {
  const kind = fields.oneOf<RequestKind>("kind", ["tool", "resource", "prompt", "sampling", "skill", "host"]);
  return {
    kind,
    client: patternOf(fields, "client"),
    user: patternOf(fields, "user"),
    group: patternOf(fields, "group"),
    approver: patternOf(fields, "approver"),
    argsPattern: argsPatternOf(fields, compile),
    annotations: annotationsOf(fields),
    modes: modesOf(fields),
    interactive: fields.flag("interactive"),
    denyMessage: fields.text("denyMessage"),
    priority: fields.number("priority", 0, 999) ?? 999,
  };
}

function patternOf(fields: RuleFields, field: Field): NamePattern | undefined {
  const text = fields.text(field);
  return text === undefined ? undefined : namePattern(text);
}

function argsPatternOf(fields: RuleFields, compile: RuleContext["compile"]): ArgsPattern | undefined {
  const text = fields.text("argsPattern");
  const pattern = text === undefined ? undefined : compile(text);
  return typeof pattern === "string" ? fields.mistake("argsPattern", `cannot be used: ${pattern}`) : pattern;
}

const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function annotationsOf(fields: RuleFields): ReadonlyMap<string, unknown> | undefined {
  const annotations = fields.plainTable("annotations");
  const wrong = hints.find((name) => annotations?.has(name) && typeof annotations.get(name) !== "boolean");
  if (wrong === undefined) return annotations;
  return fields.mistake("annotations", `contains "${wrong}", whose value must be true or false`);
}

const ourModes: readonly ApprovalMode[] = ["default", "plan", "yolo"];
const theirModes = ["autoEdit"];

function modesOf(fields: RuleFields): readonly ApprovalMode[] | undefined {
  const words = fields.texts("modes");
  const unknown = words?.find((word) => ![...ourModes, ...theirModes].includes(word));
  if (unknown === undefined) return words && ourModes.filter((mode) => words.includes(mode));
  const meant = closest(unknown, ourModes);
  return fields.mistake("modes", `contains "${unknown}"; modes are ${ourModes.join(", ")}`, didYouMean(meant));
}

type NamedPair = Pick<PolicyRule, "server" | "tool">;

function namedBy(
  server: string | undefined,
  tools: readonly string[] | undefined,
  { decision }: Pick<PolicyRule, "decision">,
  fields: RuleFields,
  { report, servers }: RuleContext,
): readonly NamedPair[] {
  const every = server === undefined || server === "*" ? {} : { server: namePattern(server) };
  if (tools === undefined) return [every];
  const isGeneral = fields.has("mcpName") || fields.has("kind");
  return tools.flatMap((tool): readonly NamedPair[] => {
    const named = { ...every, tool: namePattern(tool) };
    if (isGeneral || tool === "*") return [named];
    if (decision !== "allow") return [named, ...joined(tool, servers)];
    const message = `the rule allows "${tool}" but names no server: it applies to Gemini CLI's own tools only`;
    report("warning", fields.positionOf("toolName"), message, 'Add mcpName = "…" to allow the tool of a server.');
    return [];
  });
}

/**
 * Splits a name that contains a server and a tool, such as `mcp_SERVER_TOOL` in Gemini CLI. If the name fits two
 * configured servers, the rule applies to both.
 */
function joined(tool: string, servers: readonly string[]): readonly NamedPair[] {
  if (tool === "mcp_*") return [{ tool: namePattern("*") }];
  return servers.flatMap((server) =>
    [`mcp_${server}_`, `${server}__`].flatMap((start): NamedPair[] =>
      tool.startsWith(start) && tool.length > start.length
        ? [{ server: exactName(server), tool: namePattern(tool.slice(start.length)) }]
        : [],
    ),
  );
}

/** The keys of a rule. Gemini CLI has all of them except `kind`, `client`, `user`, `group` and `approver`. */
const fieldNames = [
  "mcpName",
  "toolName",
  "kind",
  "client",
  "user",
  "group",
  "approver",
  "argsPattern",
  "annotations",
  "decision",
  "priority",
  "modes",
  "interactive",
  "denyMessage",
] as const;
type Field = (typeof fieldNames)[number];

const otherSpellings: ReadonlyMap<string, Field> = new Map([
  ["toolAnnotations", "annotations"],
  ["deny_message", "denyMessage"],
]);

type Report = (at: TextPosition, message: string, next?: string) => void;

interface RuleFields {
  readonly has: (field: Field) => boolean;
  readonly positionOf: (field: Field) => TextPosition;
  readonly text: (field: Field) => string | undefined;
  /** The texts in a list. A single text counts as a list with one item. */
  readonly texts: (field: Field) => readonly string[] | undefined;
  readonly flag: (field: Field) => boolean | undefined;
  readonly number: (field: Field, lowest: number, highest: number) => number | undefined;
  readonly plainTable: (field: Field) => ReadonlyMap<string, unknown> | undefined;
  /** Reads a word that must be one of `choices`. A misspelt word is read as the most similar choice. */
  readonly oneOf: <T extends string>(field: Field, choices: readonly T[]) => T | undefined;
  readonly mistake: (field: Field, problem: string, next?: string) => undefined;
}

/** Creates the reader for one rule. A misspelt key is read as the key with the most similar name. */
function createRuleFields(table: TomlTable, start: TextPosition, report: Report): RuleFields {
  const items = new Map<string, TomlItem>();
  for (const [name, item] of table) {
    const field = fieldNames.find((one) => one === name) ?? otherSpellings.get(name);
    if (field !== undefined) items.set(field, item);
  }
  for (const [name, item] of table) {
    if (fieldNames.some((one) => one === name) || otherSpellings.has(name)) continue;
    const meant = closest(name, fieldNames);
    report(item, `"${name}" is not a known key of a rule`, didYouMean(meant));
    if (meant !== undefined && !items.has(meant)) items.set(meant, item);
  }

  const positionOf = (field: Field): TextPosition => items.get(field) ?? start;
  const value = (field: Field): TomlItem["value"] => items.get(field)?.value;

  function mistake(field: Field, problem: string, next?: string): undefined {
    report(positionOf(field), `"${field}" ${problem}`, next);
  }

  function flawless(field: Field, text: unknown): string | undefined {
    if (typeof text !== "string") return mistake(field, "must be a string");
    if (text === "") return mistake(field, "is empty");
    if (text.length <= limits.policyText) return text;
    return mistake(field, `is longer than ${limits.policyText} characters`);
  }

  function text(field: Field): string | undefined {
    return items.has(field) ? flawless(field, value(field)) : undefined;
  }

  return {
    has: (field) => items.has(field),
    positionOf,
    mistake,
    text,
    texts(field) {
      if (!items.has(field)) return undefined;
      const given = value(field);
      if (!Array.isArray(given)) {
        const only = text(field);
        return only === undefined ? undefined : [only];
      }
      if (given.length === 0) return mistake(field, "is an empty list");
      const texts: string[] = [];
      for (const item of given) {
        const read = flawless(field, item.value);
        if (read === undefined) return undefined;
        texts.push(read);
      }
      return texts;
    },
    flag(field) {
      const given = value(field);
      if (!items.has(field)) return undefined;
      return typeof given === "boolean" ? given : mistake(field, "must be true or false");
    },
    number(field, lowest, highest) {
      const given = value(field);
      if (typeof given === "number" && Number.isInteger(given) && given >= lowest && given <= highest) return given;
      return mistake(
        field,
        `${items.has(field) ? "must be" : "is missing: write"} a whole number from ${lowest} to ${highest}`,
      );
    },
    plainTable(field) {
      const given = value(field);
      if (!items.has(field)) return undefined;
      if (!isTable(given)) return mistake(field, "must be a table, { name = value }");
      const members = [...given].map(([name, item]) => [name, item.value] as const);
      if (members.every(([, member]) => ["string", "number", "boolean"].includes(typeof member)))
        return new Map(members);
      return mistake(field, "may contain only strings, numbers, true and false");
    },
    oneOf(field, choices) {
      const given = text(field);
      const choice = choices.find((one) => one === given);
      if (choice !== undefined || given === undefined) return choice;
      const near = closest(given, choices);
      const meant = choices.find((one) => one === near) ?? choices.find((one) => one.startsWith(given));
      mistake(field, `is "${given}", not one of ${choices.join(", ")}`, didYouMean(meant));
      return meant;
    },
  };
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant === undefined ? undefined : `Did you mean "${meant}"?`;
}

/** A position in a file. Line and column count from 1. */
interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A value in a TOML file, with its position. */
interface TomlItem extends TextPosition {
  /** The parsed value. Undefined for dates and for values that are nested too deeply, because rules do not use them. */
  readonly value: string | number | boolean | readonly TomlItem[] | TomlTable | undefined;
}

/** A TOML table: its items by key. */
type TomlTable = ReadonlyMap<string, TomlItem>;

/** Whether a value is a table, and not a list or a plain value. */
function isTable(value: TomlItem["value"]): value is TomlTable {
  return value instanceof Map;
}

/** A parsed file, or the reason why it is not valid TOML. */
type TomlDocument =
  | { readonly kind: "table"; readonly table: TomlTable }
  | ({ readonly kind: "broken"; readonly reason: string } & TextPosition);

/** Parses a text. Does not throw if the text is invalid TOML. */
async function parseToml(text: string): Promise<TomlDocument> {
  const { parseTOML, ParseError } = await import("toml-eslint-parser");
  try {
    // Removes the byte order mark, because the parser rejects it.
    const [top] = parseTOML(text.replace(/^\uFEFF/, "")).body;
    return { kind: "table", table: tableOf(top) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return { kind: "broken", reason: error.message, line: error.lineNumber, column: error.column + 1 };
  }
}

const deepest = 16;

function tableOf(top: AST.TOMLTopLevelTable): TomlTable {
  const table: Table = new Map();
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") add(table, node, 0);
    else {
      const inner = tableAt(table, node.resolvedKey, placeOf(node));
      for (const member of node.body) add(inner, member, 0);
    }
  }
  return table;
}

interface Item extends TextPosition {
  readonly value: string | number | boolean | Item[] | Table | undefined;
}

type Table = Map<string, Item>;

function add(table: Table, { key, value }: AST.TOMLKeyValue, depth: number): void {
  const names = keyWords(key);
  const at = placeOf(key);
  tableAt(table, names.slice(0, -1), at).set(names.at(-1) ?? "", { ...at, value: plainOf(value, depth) });
}

/**
 * Returns the table at the end of a path, and creates tables that do not exist yet. A number in the path selects a
 * table of a list.
 */
function tableAt(table: Table, path: readonly (string | number)[], at: TextPosition): Table {
  const [name, index, ...rest] = path;
  if (name === undefined) return table;
  const existing = table.get(String(name))?.value;
  if (typeof index === "number") {
    const list = Array.isArray(existing) ? existing : [];
    if (list !== existing) table.set(String(name), { ...at, value: list });
    const before = list[index]?.value;
    const inner: Table = before instanceof Map ? before : new Map();
    if (inner !== before) list[index] = { ...at, value: inner };
    return tableAt(inner, rest, at);
  }
  const inner: Table = existing instanceof Map ? existing : new Map();
  if (inner !== existing) table.set(String(name), { ...at, value: inner });
  return tableAt(inner, path.slice(1), at);
}

function plainOf(node: AST.TOMLContentNode, depth: number): Item["value"] {
  if (depth > deepest) return undefined;
  switch (node.type) {
    case "TOMLArray":
      return node.elements.map((element) => ({ ...placeOf(element), value: plainOf(element, depth + 1) }));
    case "TOMLInlineTable": {
      const table: Table = new Map();
      for (const member of node.body) add(table, member, depth + 1);
      return table;
    }
    case "TOMLValue":
      return typeof node.value === "object" ? undefined : node.value;
  }
}

function placeOf({ loc: { start } }: AST.TOMLNode): TextPosition {
  return { line: start.line, column: start.column + 1 };
}
