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
  extends Pick<LedgerEntry, "answer" | "answeredIn" | "refusal" | "outcome" | "durationMs" | "confirmationMs"> {
  readonly request: PolicyRequest;
  readonly decision: Decision;
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

/** Records requests in the ledger. */
export interface HostLedger {
  readonly record: (row: LedgerRow) => void;
  /** The tools that were called successfully in this workspace, latest first. */
  readonly usedTools: () => Promise<readonly ToolIdentity[]>;
  /** Resolves when every row recorded so far is on disk or could not be written. */
  readonly flush: () => Promise<void>;
}

/** Maximum number of successful calls, the latest ones, that `usedTools` returns. */
const mostUsed = 1000;

/** Creates the ledger of a host. The first row opens the file. */
export function createHostLedger({
  state,
  keepArguments,
  workspace,
  mode,
  now,
  clock,
  emit,
}: HostLedgerOptions): HostLedger {
  let isTold = false;
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  /** Resolves when the rows that were recorded before the ledger was open are in it. */
  let early: Promise<unknown> = Promise.resolve();
  /** Resolves when the latest rows are written. Rows that are written together share this promise. */
  let batch: Promise<void> | undefined;
  /** Text of the last row's rule. Most rows have the same rule as the row before, so the text is used again. */
  let lastRule: { readonly rule: Decision["rule"]; readonly text: string } | undefined;

  async function open(): Promise<Opened> {
    const [{ createLedger, ledgerFolder }, { ruleText }] = await Promise.all([
      import("../policy/ledger/ledger.ts"),
      import("../policy/rules/rule-text.ts"),
    ]);
    return { ledger: createLedger({ folder: ledgerFolder(state), keepArguments, now, clock }), ruleText };
  }

  function tell(error: unknown): void {
    if (!isTold) emit({ type: "history_failed", message: errorMessage(error) });
    isTold = true;
  }

  function add({ ledger, ruleText }: Opened, row: LedgerRow): void {
    const { request, decision: decided, answer, answeredIn, refusal, outcome, durationMs, confirmationMs } = row;
    const { serverName: server, serverToolName: tool, kind = "tool", args = {}, client } = request;
    const { decision, rule } = decided;
    if (lastRule?.rule !== rule) lastRule = { rule, text: ruleText(rule) };
    const written = ledger.add({
      server,
      tool,
      kind,
      client,
      workspace: workspace(),
      arguments: args,
      decision,
      rule: lastRule.text,
      ruleOrigin: rule.origin,
      mode,
      answer,
      answeredIn,
      refusal,
      outcome,
      durationMs,
      confirmationMs,
    });
    // Several rows share one promise. Its error must be reported only once.
    if (written !== batch) written.catch(tell);
    batch = written;
  }

  return {
    record(row) {
      if (opened !== undefined) return add(opened, row);
      opening ??= open();
      const added = opening.then((ready) => {
        opened = ready;
        add(ready, row);
      });
      early = Promise.allSettled([early, added.catch(tell)]);
    },
    async usedTools() {
      opening ??= open();
      const { ledger } = await opening;
      const root = workspace();
      const matches = (entry: LedgerEntry): boolean =>
        entry.workspace === root && entry.kind === "tool" && entry.outcome === "ok";
      const entries = await ledger.read({ matches, limit: mostUsed }).catch(() => []);
      return entries.toReversed().map(({ server, tool }) => ({ serverName: server, serverToolName: tool }));
    },
    async flush() {
      await early;
      await opened?.ledger.close();
    },
  };
}

interface Opened {
  readonly ledger: Ledger;
  readonly ruleText: (rule: Decision["rule"]) => string;
}
