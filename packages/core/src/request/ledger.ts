/**
 * Records the requests of a host in the ledger. If a row cannot be written, the request still runs, and the host
 * reports the problem once.
 */

import { errorMessage } from "@fairlead/wire/text";
import type { Clock } from "../clock.ts";
import type { Emitter } from "../events.ts";
import type { PolicyRequest, ToolIdentity } from "../policy/decide.ts";
import type { Ledger } from "../policy/ledger/ledger.ts";
import type { LedgerEntry } from "../policy/ledger/ledger-entry.ts";
import type { ApprovalMode, Decision } from "../policy/rules/rule.ts";

/** A row of the ledger: one request with its decision and its outcome. */
export interface LedgerRow
  extends Pick<
    LedgerEntry,
    "answer" | "answeredIn" | "refusal" | "outcome" | "durationMs" | "confirmationMs" | "traceId"
  > {
  readonly request: PolicyRequest;
  readonly decision: Decision;
}

/** Records the requests of a host. Default: files in the state folder, written within 40 ms. */
export interface RequestLedger {
  /**
   * Called before an allowed request is sent. The request waits for the promise, and fails with its error. Resolves with
   * what `record` gets for this request.
   */
  readonly begin?: (request: PolicyRequest) => Promise<string>;
  /**
   * Records a request. If it returns a promise, the request ends only when the promise resolves, and fails with its error.
   *
   * @param begun What `begin` has resolved with. Absent if the request was not sent.
   */
  record(row: LedgerRow, begun?: string): Promise<void> | undefined;
  /** The tools that were called successfully, latest first. */
  usedTools(): Promise<readonly ToolIdentity[]>;
  /** Resolves when every row recorded so far is stored, or could not be stored. */
  flush(): Promise<void>;
}

interface AnswerFacts extends Pick<LedgerEntry, "outcome"> {
  /** Whether the recorded decision requires confirmation. */
  readonly needsConfirmation: boolean;
  readonly isAnswered?: boolean | undefined;
  /** The user's answer to the confirmation; absent if the user was not asked. */
  readonly how?: "yes" | "no" | "typed" | "edited" | undefined;
  /** Whether the request itself says that the user accepts a changed definition. */
  readonly acceptChanged?: boolean | undefined;
  readonly confirmed?: boolean | "in_advance" | undefined;
}

/** The answer to a confirmation, or the reason for the refusal, as the ledger records it. */
export function answerOf({
  outcome,
  needsConfirmation,
  isAnswered = false,
  how,
  acceptChanged = false,
  confirmed,
}: AnswerFacts): Pick<LedgerRow, "answer" | "refusal"> {
  if (outcome === "denied" && needsConfirmation) {
    if (how === undefined) return { refusal: "no_terminal" };
    // After a yes, the request was denied for another reason (for example, the server was replaced).
    if (how === "edited") return { refusal: "edited" };
    return how === "no" ? { refusal: "user" } : {};
  }
  if (!isAnswered || outcome === "denied" || outcome === "changed") return {};
  if (how === "typed") return { answer: "typed" };
  const isInAdvance = confirmed === "in_advance" || (acceptChanged && how === undefined);
  return { answer: isInAdvance ? "in_advance" : "asked" };
}

/** Where and what the ledger records. */
export interface HostLedgerOptions {
  /** The folder of Fairlead's state files. */
  readonly state: string;
  readonly keepArguments: () => boolean;
  /** The root of the workspace. */
  readonly workspace: () => string;
  readonly mode: ApprovalMode;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly clock: Clock;
  readonly emit: Emitter["emit"];
}

/** Maximum number of successful calls, the latest ones, that `usedTools` returns. */
const mostUsed = 1000;

/** Records the requests of a host in the ledger. The first row opens the file. */
export class HostLedger implements RequestLedger {
  readonly #options: HostLedgerOptions;
  #isTold = false;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  /** Resolves when the rows that were recorded before the ledger was open are in it. */
  #early: Promise<unknown> = Promise.resolve();
  /** Resolves when the latest rows are written. Rows that are written together share this promise. */
  #batch: Promise<void> | undefined;
  /** Text of the last row's rule. Most rows have the same rule as the row before, so the text is used again. */
  #lastRule: { readonly rule: Decision["rule"]; readonly text: string } | undefined;

  constructor(options: HostLedgerOptions) {
    this.#options = options;
  }

  /** A request does not wait for its row. */
  record(row: LedgerRow): undefined {
    if (this.#opened === undefined) {
      const added = this.#open().then((ready) => {
        this.#opened = ready;
        this.#add(ready, row);
      });
      this.#early = Promise.allSettled([this.#early, added.catch(this.#tell)]);
    } else this.#add(this.#opened, row);
  }

  /** The tools that were called successfully in this workspace, latest first. */
  async usedTools(): Promise<readonly ToolIdentity[]> {
    const { ledger } = await this.#open();
    const root = this.#options.workspace();
    const matches = (entry: LedgerEntry): boolean =>
      entry.workspace === root && entry.kind === "tool" && entry.outcome === "ok";
    const entries = await ledger.read({ matches, limit: mostUsed }).catch(() => []);
    return entries.toReversed().map(({ server, tool }) => ({ serverName: server, serverToolName: tool }));
  }

  /** Resolves when every row recorded so far is on disk or could not be written. */
  async flush(): Promise<void> {
    await this.#early;
    await this.#opened?.ledger.close();
  }

  #open(): Promise<Opened> {
    this.#opening ??= openLedger(this.#options);
    return this.#opening;
  }

  readonly #tell = (error: unknown): void => {
    if (!this.#isTold) this.#options.emit({ type: "history_failed", message: errorMessage(error) });
    this.#isTold = true;
  };

  #add({ ledger, ruleText }: Opened, row: LedgerRow): void {
    const {
      request,
      decision: decided,
      answer,
      answeredIn,
      refusal,
      outcome,
      durationMs,
      confirmationMs,
      traceId,
    } = row;
    const { serverName: server, serverToolName: tool, kind = "tool", args = {}, client } = request;
    const { decision, rule } = decided;
    if (this.#lastRule?.rule !== rule) this.#lastRule = { rule, text: ruleText(rule) };
    const written = ledger.add({
      server,
      tool,
      kind,
      client,
      workspace: this.#options.workspace(),
      arguments: args,
      decision,
      rule: this.#lastRule.text,
      ruleOrigin: rule.origin,
      mode: this.#options.mode,
      answer,
      answeredIn,
      refusal,
      outcome,
      durationMs,
      confirmationMs,
      traceId,
    });
    // Several rows share one promise. Its error must be reported only once.
    if (written !== this.#batch) written.catch(this.#tell);
    this.#batch = written;
  }
}

async function openLedger({ state, keepArguments, now, clock }: HostLedgerOptions): Promise<Opened> {
  const [{ createLedger, ledgerFolder }, { ruleText }] = await Promise.all([
    import("../policy/ledger/ledger.ts"),
    import("../policy/rules/rule-text.ts"),
  ]);
  return { ledger: createLedger({ folder: ledgerFolder(state), keepArguments, now, clock }), ruleText };
}

interface Opened {
  readonly ledger: Ledger;
  readonly ruleText: (rule: Decision["rule"]) => string;
}
