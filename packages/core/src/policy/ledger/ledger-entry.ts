/**
 * One entry of the ledger: a request, its decision and its outcome. Writes it as a line of JSON and parses it. Pure.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { type ErrorCode, errorCodes } from "../../errors.ts";
import { writeJson } from "../../text/deep-json.ts";
import type { ApprovalMode, DecisionOutcome, RequestKind, RuleOrigin } from "../rules/rule.ts";

/** One request in the ledger. */
export interface LedgerEntry {
  /** When the request ended, in ISO 8601. */
  readonly time: string;
  readonly server: string;
  /** The server's own name of the tool or prompt, or the URI of the resource. */
  readonly tool: string;
  readonly kind: RequestKind;
  /** Keyed digest: equal arguments have equal digests, on this machine only. */
  readonly argumentsDigest: string;
  /** Present only with `fairlead.audit.arguments`, and only if the arguments are short enough. */
  readonly arguments?: JsonObject;
  readonly decision: DecisionOutcome;
  /** The rule that decided, as text. */
  readonly rule: string;
  readonly ruleOrigin?: RuleOrigin;
  readonly mode: ApprovalMode;
  /** How the user confirmed: when asked, or before being asked (`--yes`). */
  readonly answer?: "asked" | "in_advance";
  readonly outcome: "ok" | ErrorCode;
  readonly durationMs: number;
}

/** In characters. Names and messages come from servers and files, so their length must be limited. */
const longestText = 2000;
const longestArguments = 65_536;

/** Writes an entry as one line of JSON. */
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

/** Parses a line; undefined if it is incomplete or has another format. */
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
