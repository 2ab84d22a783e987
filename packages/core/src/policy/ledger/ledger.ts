/** The ledger: records every request to a server with its outcome. Entries are only ever appended. */

import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { type Clock, systemClock } from "../../clock.ts";
import { type ErrorCode, errorCodes } from "../../errors.ts";
import { localKey } from "../../files/secrets/local-key.ts";
import type { AnswerPlace } from "../../registry/confirmation.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import { writeJson } from "../../text/deep-json.ts";
import type { ApprovalMode, DecisionOutcome, RequestKind, RuleOrigin } from "../rules/rule.ts";
import { createLedgerWriter, type LedgerLimits, readFiles } from "./ledger-files.ts";

/** One request to record. The ledger adds the time and the digest of the arguments. */
export interface LedgerRecord extends Omit<LedgerEntry, "time" | "argumentsDigest"> {
  readonly arguments: JsonObject;
}

export interface LedgerOptions {
  readonly folder: string;
  /** The current value of `fairlead.audit.arguments`. */
  readonly keepArguments: () => boolean;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: LedgerLimits;
  /** Measures how long a batch collects entries. Default: the system's clock. */
  readonly clock?: Clock;
}

/** Which entries `read` returns. */
export interface LedgerSearch {
  readonly matches?: (entry: LedgerEntry) => boolean;
  /** The number of newest entries to return. */
  readonly limit?: number;
}

/** Writes and reads the ledger. */
export interface Ledger {
  /**
   * Adds an entry to the next batch, which is written within 40 ms. Entries are written in the order of the calls.
   * Returns the promise of the whole batch, which rejects if the batch cannot be written.
   */
  add(record: LedgerRecord): Promise<void>;
  /** Writes an entry and all waiting entries at once. Rejects if they cannot be written. */
  write(record: LedgerRecord): Promise<void>;
  /** Returns the entries on disk, newest last. */
  read(search?: LedgerSearch): Promise<readonly LedgerEntry[]>;
  /**
   * Writes all waiting entries at once. Resolves when they are on disk or have failed. Entries may be added again after
   * that.
   */
  close(): Promise<void>;
}

/**
 * How many milliseconds a batch collects entries: opening a file for each entry would cost more time than the call
 * itself.
 */
const batchTime = 40;
/** Maximum number of entries of a batch. */
const batchEntries = 256;
/** The size limit of the ledger: about 80 000 entries of 400 bytes. */
const usual: LedgerLimits = { fileBytes: 4_194_304, files: 8 };

export function ledgerFolder(state: string): string {
  return join(state, "ledger");
}

export function createLedger(options: LedgerOptions): Ledger {
  const { folder, keepArguments, now, limits = usual, clock = systemClock } = options;
  const files = createLedgerWriter(folder, limits);
  let key: Promise<Buffer> | undefined;
  /** The batch that collects entries now. */
  let next: Batch | undefined;
  let last: Promise<void> = Promise.resolve();

  async function readKey(): Promise<Buffer> {
    key ??= localKey(join(folder, "key"));
    try {
      return await key;
    } catch (error) {
      // The next batch tries to read or create the key again: the disk may have space by then.
      key = undefined;
      throw error;
    }
  }

  async function append({ records }: Batch): Promise<void> {
    const secret = await readKey();
    const isKept = keepArguments();
    const digests = new Map<string, string>();
    let before: LedgerRecord | undefined;
    let shared = "";
    const lines = records.map(({ time, record }) => {
      const { arguments: args, durationMs } = record;
      if (before === undefined || !isAlike(record, before)) shared = sharedMembers(record);
      before = record;
      const text = canonicalJson(args);
      const argumentsDigest = digests.get(text) ?? digestOf(text, secret);
      digests.set(text, argumentsDigest);
      return lineOf(toIsoTime(time), argumentsDigest, isKept ? args : undefined, durationMs, shared);
    });
    await files.append(lines);
  }

  function add(record: LedgerRecord): Promise<void> {
    next ??= createBatch(clock, () => void flush());
    const { records, written } = next;
    records.push({ time: now(), record });
    if (records.length === batchEntries) void flush();
    return written;
  }

  function flush(): Promise<void> {
    const batch = next;
    if (batch === undefined) return last;
    next = undefined;
    batch.cancelTimer();
    // If a batch fails, the next batch is still written.
    last = last.then(() => append(batch)).then(batch.resolve, batch.reject);
    return last;
  }

  return {
    add,
    close: flush,

    write(record) {
      const written = add(record);
      void flush();
      return written;
    },

    async read({ matches = () => true, limit = Number.POSITIVE_INFINITY } = {}) {
      let found: readonly LedgerEntry[] = [];
      for await (const lines of readFiles(folder)) {
        found = [...lines.flatMap((line) => parseLine(line) ?? []).filter(matches), ...found];
        if (found.length >= limit) break;
      }
      return found.slice(Math.max(0, found.length - limit));
    },
  };
}

/** Entries that are written together. */
interface Batch {
  readonly records: { readonly time: number; readonly record: LedgerRecord }[];
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly cancelTimer: () => void;
}

function createBatch(clock: Clock, onDue: () => void): Batch {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const written = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { records: [], written, resolve, reject, cancelTimer: clock.after(batchTime, onDue) };
}

/** A digest of the arguments with a secret key, because the arguments could be guessed from a plain digest. */
function digestOf(args: string, key: Buffer): string {
  return createHmac("sha256", key).update(args).digest("hex");
}

function toIsoTime(time: number): string {
  return new Date(time).toISOString();
}

/** One entry of the ledger: a request, its decision and its outcome. */
export interface LedgerEntry {
  /** When the request ended, in ISO 8601. */
  readonly time: string;
  readonly server: string;
  /** The tool's or prompt's name, as its server names it, or the URI of the resource. */
  readonly tool: string;
  readonly kind: RequestKind;
  /** The client of the gateway that sent the request; absent for the user and for models. */
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
  /** Where the user confirmed the request of a client. */
  readonly answeredIn?: AnswerPlace | undefined;
  /** Why a request that needed confirmation was denied: the user said no, or there was no way to ask. */
  readonly refusal?: "user" | "no_terminal" | undefined;
  readonly outcome: "ok" | ErrorCode;
  readonly durationMs: number;
}

/** Maximum characters of one text. Names and messages come from servers and files, so they can be very long. */
const longestText = 2000;
const longestArguments = 65_536;

/** Writes an entry as one line of JSON. */
export function toLine(entry: LedgerEntry): string {
  const { time, argumentsDigest, arguments: args, durationMs } = entry;
  return lineOf(time, argumentsDigest, args, durationMs, sharedMembers(entry));
}

function lineOf(
  time: string,
  argumentsDigest: string,
  args: JsonObject | undefined,
  durationMs: number,
  shared: string,
): string {
  const written = args && writeJson(args);
  const kept = written !== undefined && written.length <= longestArguments ? `"arguments":${written},` : "";
  return `{"time":"${time}","argumentsDigest":"${argumentsDigest}",${kept}"durationMs":${durationMs},${shared}`;
}

type SharedMembers = Omit<LedgerEntry, "time" | "argumentsDigest" | "arguments" | "durationMs">;

/** The members at the end of a line. Consecutive entries mostly have the same ones, so their JSON is reused. */
function sharedMembers(entry: SharedMembers): string {
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

function isAlike(one: SharedMembers, other: SharedMembers): boolean {
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

/** Parses a line; undefined if the line is incomplete or in another format. */
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
    [entry.workspace, entry.client].every((text) => text === undefined || typeof text === "string") &&
    isOneOf(decisions, entry.decision) &&
    isOneOf(kinds, entry.kind) &&
    isOneOf(modes, entry.mode) &&
    outcomes.includes(entry.outcome) &&
    typeof entry.durationMs === "number" &&
    isOneOf([undefined, "asked", "in_advance", "typed"], entry.answer) &&
    isOneOf([undefined, "page", "form", "inbox", "grant"], entry.answeredIn) &&
    isOneOf([undefined, "user", "no_terminal"], entry.refusal) &&
    [entry.arguments, entry.ruleOrigin].every((part) => part === undefined || isObject(part))
  );
}

function isOneOf(words: readonly unknown[], value: unknown): boolean {
  return words.includes(value);
}
