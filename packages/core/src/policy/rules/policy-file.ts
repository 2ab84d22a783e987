/**
 * Reads one policy file. Returns its rules, and its mistakes with their positions. If a file cannot be read, decisions
 * become stricter.
 */

import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { Problem, Scope } from "../../settings/define/definition.ts";
import { closest } from "../../text/closest.ts";
import { readRule } from "./read-rule.ts";
import type { ArgsPattern, DecisionOutcome, PolicyRule, Tier } from "./rule.ts";
import { isTable, parseToml, type TextPosition, type TomlItem, type TomlTable } from "./toml-tree.ts";

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
  const { tier } = options;
  const read = await readText(file, limits.policyBytes);
  // The file was deleted after its folder was listed.
  if (read.kind === "absent") return undefined;
  if (read.kind === "unreadable") return unreadable(file, tier, `cannot be read: ${read.reason}`);
  const document = await parseToml(read.text);
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
    rules: [doubtAbout(file, tier, `${message}. ${next}`, at)],
    problems: [{ severity: "error", code: "settings_invalid", message, origin, next }],
  };
}

const effects: Readonly<Record<FileTier, string>> = {
  administrator: "every request is denied",
  user: "every request needs confirmation",
  workspace: "every request needs confirmation",
};

/** The rule that takes the place of rules that Fairlead could not read. */
function doubtAbout(file: string, tier: FileTier, denyMessage: string, { line }: TextPosition): PolicyRule {
  return {
    tier,
    decision: tier === "administrator" ? "deny" : "ask_user",
    priority: 999,
    isDoubt: true,
    denyMessage,
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
    problems.push({ severity, code: "settings_invalid", message, origin, ...(next === undefined ? {} : { next }) });
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
