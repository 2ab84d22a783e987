/** The entries of the ledger (the history of requests), and how they are written as lines of JSON. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { type ErrorCode, errorCodes } from "../../errors.ts";
import { writeJson } from "../../text/deep-json.ts";
import type { AnswerPlace } from "../confirmation.ts";
import type { ApprovalMode, DecisionOutcome, RequestKind, RuleOrigin } from "../rules/rule.ts";

/** One entry of the ledger: a request, its decision and its outcome. */
export interface LedgerEntry {
  /** When the request ended, in ISO 8601. */
  readonly time: string;
  readonly server: string;
  /** The name that the server gives the tool or prompt, or the URI of the resource. */
  readonly tool: string;
  readonly kind: RequestKind;
  /** The gateway's client that sent the request. Absent if the user or a model sent it. */
  readonly client?: string | undefined;
  /** The root of the workspace in which the request was made. */
  readonly workspace?: string | undefined;
  /** Keyed digest of the arguments. Equal arguments have equal digests, but only on this machine. */
  readonly argumentsDigest: string;
  /** The arguments. Present only with the setting `fairlead.audit.arguments`, and only if they are short enough. */
  readonly arguments?: JsonObject | undefined;
  readonly decision: DecisionOutcome;
  /** The rule that decided, as text. */
  readonly rule: string;
  readonly ruleOrigin?: RuleOrigin;
  readonly mode: ApprovalMode;
  /** How the user confirmed the request: when asked, in advance (`--yes`), or by typing the call in the app. */
  readonly answer?: "asked" | "in_advance" | "typed" | undefined;
  /** Where the user confirmed a client's request, for example in the inbox. Absent for other requests. */
  readonly answeredIn?: AnswerPlace | undefined;
  /**
   * Why a request that needed confirmation was denied: the user said no, the user changed the arguments (the changed
   * request has its own entry), or no answer came.
   */
  readonly refusal?: "user" | "edited" | "no_terminal" | undefined;
  readonly outcome: "ok" | ErrorCode;
  /** From the request to its outcome, with `confirmationMs`. */
  readonly durationMs: number;
  /** How long the request waited for the user's answer to its confirmation. Absent if the user was not asked. */
  readonly confirmationMs?: number | undefined;
  /** The trace of the request, as 32 hex digits. Absent if neither Fairlead nor its client traces requests. */
  readonly traceId?: string | undefined;
}

/** Maximum characters of one text. Names and messages come from servers and files, so they can be very long. */
const longestText = 2000;
/** Maximum size of stored arguments, in bytes of JSON. */
const argumentBytes = 65_536;

/** Writes an entry as one line of JSON. */
export function toLine(entry: LedgerEntry): string {
  const { argumentsDigest, arguments: args } = entry;
  return lineOf({ ...entry, kept: args ? keptArguments(args) : "", shared: sharedMembers(entry) }, argumentsDigest);
}

/** The parts of a line that differ from request to request, and the text that consecutive lines share. */
export interface LineParts extends Pick<LedgerEntry, "time" | "durationMs" | "confirmationMs" | "traceId"> {
  /** The member `arguments` of the line, as `keptArguments` returns it. Empty if the ledger does not store arguments. */
  readonly kept: string;
  /** What `sharedMembers` returns. */
  readonly shared: string;
}

/** Writes a line of the ledger from its parts. */
export function lineOf(parts: LineParts, argumentsDigest: string): string {
  const { time, durationMs, confirmationMs, traceId, kept, shared } = parts;
  const waited = confirmationMs === undefined ? "" : `"confirmationMs":${confirmationMs},`;
  const traced = traceId === undefined ? "" : `"traceId":"${traceId}",`;
  return `{"time":"${time}","argumentsDigest":"${argumentsDigest}",${kept}"durationMs":${durationMs},${waited}${traced}${shared}`;
}

/** The member `arguments` as JSON text. Empty if the arguments are too large. */
export function keptArguments(args: JsonObject): string {
  const written = writeJson(args);
  return Buffer.byteLength(written) <= argumentBytes ? `"arguments":${written},` : "";
}

type SharedMembers = Omit<
  LedgerEntry,
  "time" | "argumentsDigest" | "arguments" | "durationMs" | "confirmationMs" | "traceId"
>;

/**
 * The last members of an entry's line, as JSON. The caller reuses this text, because consecutive entries often have the
 * same values.
 */
export function sharedMembers(entry: SharedMembers): string {
  const { server, tool, kind, client, workspace, decision, rule, ruleOrigin, mode, answer, answeredIn } = entry;
  const { refusal, outcome } = entry;
  return writeJson({
    server: clip(server, longestText),
    tool: clip(tool, longestText),
    kind,
    client: client === undefined ? undefined : clip(client, longestText),
    workspace: workspace === undefined ? undefined : clip(workspace, longestText),
    decision,
    rule: clip(rule, longestText),
    ruleOrigin,
    mode,
    answer,
    answeredIn,
    refusal,
    outcome,
  }).slice(1);
}

/** Whether two entries have the same `sharedMembers`. */
export function isAlike(one: SharedMembers, other: SharedMembers): boolean {
  return (
    one.server === other.server &&
    one.tool === other.tool &&
    one.kind === other.kind &&
    one.client === other.client &&
    one.workspace === other.workspace &&
    one.decision === other.decision &&
    one.rule === other.rule &&
    one.ruleOrigin === other.ruleOrigin &&
    one.mode === other.mode &&
    one.answer === other.answer &&
    one.answeredIn === other.answeredIn &&
    one.refusal === other.refusal &&
    one.outcome === other.outcome
  );
}

/** Parses a line. Undefined if the line is incomplete, or is not an entry of the ledger. */
export function parseLine(line: string): LedgerEntry | undefined {
  const value = parseJson(line);
  return isEntry(value) ? value : undefined;
}

const decisions: readonly DecisionOutcome[] = ["allow", "ask_user", "deny"];
const kinds: readonly RequestKind[] = ["tool", "resource", "prompt", "sampling", "skill", "host"];
const modes: readonly ApprovalMode[] = ["default", "plan", "yolo"];
const outcomes: readonly unknown[] = ["ok", ...errorCodes];

function isEntry(value: unknown): value is LedgerEntry {
  if (!isObject(value)) return false;
  const entry: Partial<Record<keyof LedgerEntry, unknown>> = value;
  return (
    [entry.time, entry.server, entry.tool, entry.argumentsDigest, entry.rule].every(
      (text) => typeof text === "string",
    ) &&
    [entry.workspace, entry.client].every((text) => text === undefined || typeof text === "string") &&
    isOneOf(decisions, entry.decision) &&
    isOneOf(kinds, entry.kind) &&
    isOneOf(modes, entry.mode) &&
    outcomes.includes(entry.outcome) &&
    typeof entry.durationMs === "number" &&
    (entry.confirmationMs === undefined || typeof entry.confirmationMs === "number") &&
    (entry.traceId === undefined || isTraceId(entry.traceId)) &&
    isOneOf([undefined, "asked", "in_advance", "typed"], entry.answer) &&
    isOneOf([undefined, "page", "form", "inbox", "grant"], entry.answeredIn) &&
    isOneOf([undefined, "user", "edited", "no_terminal"], entry.refusal) &&
    [entry.arguments, entry.ruleOrigin].every((part) => part === undefined || isObject(part))
  );
}

function isTraceId(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
}

function isOneOf(words: readonly unknown[], value: unknown): boolean {
  return words.includes(value);
}
