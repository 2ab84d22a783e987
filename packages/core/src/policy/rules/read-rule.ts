/**
 * Converts one `[[rule]]` of a policy file to rules, one for each tool that it names. A mistake in it never allows
 * anything.
 */

import { closest } from "../../text/closest.ts";
import { exactName, namePattern } from "./name-pattern.ts";
import type { ApprovalMode, ArgsPattern, DecisionOutcome, PolicyRule, RequestKind, Tier } from "./rule.ts";
import { createRuleFields, didYouMean, type RuleFields } from "./rule-fields.ts";
import type { TextPosition, TomlTable } from "./toml-tree.ts";

interface RuleContext {
  readonly tier: Tier;
  readonly file: string;
  /** Names of the configured servers, to resolve tool names that contain the server's name. */
  readonly servers: readonly string[];
  readonly compile: (pattern: string) => ArgsPattern | string;
  /** Reports a problem. `error`: a part is ignored, or is read more strictly than written. */
  readonly report: (severity: "error" | "warning", at: TextPosition, message: string, next?: string) => void;
  /** The table is written in a form that makes its meaning uncertain. */
  readonly isDoubtful?: boolean;
}

/** Members of Gemini CLI's rules about its shell and its agents. Such rules do not concern MCP servers. */
const aboutOtherThings = ["commandPrefix", "commandRegex", "allowRedirection", "allow_redirection", "subagent"];

/** Reads one rule table. Problems go to `context.report`. */
export function readRule(table: TomlTable, start: TextPosition, context: RuleContext): readonly PolicyRule[] {
  // With `mcpName` these members count as misspelt: a server has no shell.
  if (!table.has("mcpName") && aboutOtherThings.some((name) => table.has(name))) return [];
  const mistakes: { at: TextPosition; message: string; next: string | undefined }[] = [];
  const fields = createRuleFields(table, start, (at, message, next) => mistakes.push({ at, message, next }));
  const decision = decisionOf(fields);
  const rule = { ...conditionsOf(fields, context.compile), decision, tier: context.tier };
  const pairs = { server: fields.text("mcpName"), tools: fields.texts("toolName") };

  if (context.tier === "workspace" && decision === "allow") {
    const message = "a workspace may only restrict: its allow rule is ignored";
    context.report("warning", start, message, "Move it to your own policy files to use it.");
    return [];
  }
  const effect = decision === "allow" ? "the rule is ignored" : "the rule applies in its strictest reading";
  for (const { at, message, next } of mistakes) context.report("error", at, `${message}; ${effect}`, next);
  const isDoubt = mistakes.length > 0 || context.isDoubtful === true;
  if (decision === "allow" && isDoubt) return [];
  // `modes` may name a mode of Gemini CLI that does not exist here: such a rule never applies.
  if (rule.modes?.length === 0) return [];
  const origin = { source: "policy_file", file: context.file, line: start.line } as const;
  return namedBy(pairs, decision, fields, context).map((pair) => ({
    ...rule,
    ...pair,
    ...(isDoubt && { isDoubt }),
    origin,
  }));
}

function decisionOf(fields: RuleFields): DecisionOutcome {
  if (!fields.has("decision")) fields.mistake("decision", "is missing: write allow, ask_user or deny");
  return fields.oneOf("decision", ["allow", "ask_user", "deny"]) ?? "deny";
}

type Conditions = Omit<PolicyRule, "tier" | "decision" | "origin" | "server" | "tool">;

function conditionsOf(fields: RuleFields, compile: RuleContext["compile"]): Conditions {
  const kind = fields.oneOf<RequestKind>("kind", ["tool", "resource", "prompt", "sampling"]);
  const argsPattern = argsPatternOf(fields, compile);
  const annotations = annotationsOf(fields);
  const modes = modesOf(fields);
  const interactive = fields.flag("interactive");
  const denyMessage = fields.text("denyMessage");
  return {
    priority: fields.number("priority", 0, 999) ?? 999,
    ...(kind && { kind }),
    ...(argsPattern && { argsPattern }),
    ...(annotations && { annotations }),
    ...(modes && { modes }),
    ...(interactive === undefined ? {} : { interactive }),
    ...(denyMessage && { denyMessage }),
  };
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
  return fields.mistake("annotations", `holds "${wrong}", which is not true or false`);
}

const ourModes: readonly ApprovalMode[] = ["default", "plan", "yolo"];
const theirModes = ["autoEdit"];

function modesOf(fields: RuleFields): readonly ApprovalMode[] | undefined {
  const words = fields.texts("modes");
  const unknown = words?.find((word) => ![...ourModes, ...theirModes].includes(word));
  if (unknown === undefined) return words && ourModes.filter((mode) => words.includes(mode));
  const meant = closest(unknown, ourModes);
  return fields.mistake("modes", `holds "${unknown}"; modes are ${ourModes.join(", ")}`, didYouMean(meant));
}

interface Pairs {
  readonly server: string | undefined;
  /** Undefined if the rule names no tool. */
  readonly tools: readonly string[] | undefined;
}

type NamedPair = Pick<PolicyRule, "server" | "tool">;

function namedBy(
  { server, tools }: Pairs,
  decision: DecisionOutcome,
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
    report("warning", fields.place("toolName"), message, 'Add mcpName = "…" to allow the tool of a server.');
    return [];
  });
}

/**
 * Gemini CLI also accepts names in which server and tool are joined. They are compared with the configured servers'
 * names, never split. If two servers match, the rule applies to both: only rules that deny or ask come here.
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
