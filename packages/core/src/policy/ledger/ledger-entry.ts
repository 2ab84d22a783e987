/** One entry of the ledger: what was asked for, who decided and what came of it. As a line of text, and back. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { type ErrorCode, errorCodes } from "../../errors.ts";
import { writeJson } from "../../text/deep-json.ts";
import type { ApprovalMode, DecisionOutcome, RequestKind, RuleOrigin } from "../rules/rule.ts";

export interface LedgerEntry {
  /** ISO 8601, when it ended. */
  readonly time: string;
  readonly server: string;
  /** The server's own name for it; of a resource the URI, of a prompt its name. */
  readonly tool: string;
  readonly kind: RequestKind;
  /** Equal for equal arguments, and only on this machine: it is keyed. */
  readonly argumentsDigest: string;
  /** Only with `fairlead.audit.arguments`, and only if they are not too long. */
  readonly arguments?: JsonObject;
  readonly decision: DecisionOutcome;
  /** In words, as they were shown. */
  readonly rule: string;
  readonly ruleOrigin?: RuleOrigin;
  readonly mode: ApprovalMode;
  /** How a yes was given where a rule asks: to a question, or before anyone asked (`--yes`). */
  readonly answer?: "asked" | "in_advance";
  readonly outcome: "ok" | ErrorCode;
  readonly durationMs: number;
}

/** Names and sentences come from servers and files; an entry must not outgrow its file. */
const longestText = 2000;
const longestArguments = 65_536;

export function toLine(entry: LedgerEntry): string {
  const { arguments: args, ...rest } = entry;
  const kept = args !== undefined && writeJson(args).length <= longestArguments ? { arguments: args } : {};
  const { server, tool, rule } = rest;
  return writeJson({
    ...rest,
    server: clip(server, longestText),
    tool: clip(tool, longestText),
    rule: clip(rule, longestText),
    ...kept,
  });
}

/** Undefined for a line that was not written to its end, or not by us. */
export function parseLine(line: string): LedgerEntry | undefined {
  const value = parseJson(line);
  return isEntry(value) ? value : undefined;
}

const decisions: readonly DecisionOutcome[] = ["allow", "ask_user", "deny"];
const kinds: readonly RequestKind[] = ["tool", "resource", "prompt", "sampling"];
const modes: readonly ApprovalMode[] = ["default", "plan", "yolo"];
const outcomes: readonly unknown[] = ["ok", ...errorCodes];

function isEntry(value: unknown): value is LedgerEntry {
  if (!isObject(value)) return false;
  const entry: Partial<Record<keyof LedgerEntry, unknown>> = value;
  return (
    [entry.time, entry.server, entry.tool, entry.argumentsDigest, entry.rule].every(
      (text) => typeof text === "string",
    ) &&
    isOneOf(decisions, entry.decision) &&
    isOneOf(kinds, entry.kind) &&
    isOneOf(modes, entry.mode) &&
    outcomes.includes(entry.outcome) &&
    typeof entry.durationMs === "number" &&
    isOneOf([undefined, "asked", "in_advance"], entry.answer) &&
    [entry.arguments, entry.ruleOrigin].every((part) => part === undefined || isObject(part))
  );
}

function isOneOf(words: readonly unknown[], value: unknown): boolean {
  return words.includes(value);
}
