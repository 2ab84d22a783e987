/**
 * The ledger of a host. It opens with the first row. A row that cannot be written stops no request; the host reports
 * that once.
 */

import { errorMessage } from "@fairlead/wire/text";
import type { Clock } from "../../clock.ts";
import type { Emitter } from "../../events.ts";
import type { PolicyRequest, ToolIdentity } from "../../policy/decide.ts";
import type { Ledger, LedgerEntry } from "../../policy/ledger/ledger.ts";
import type { ApprovalMode, Decision } from "../../policy/rules/rule.ts";

/** One request for the ledger: its decision and its outcome. */
export interface LedgerRow extends Pick<LedgerEntry, "answer" | "answeredIn" | "refusal" | "outcome" | "durationMs"> {
  readonly request: PolicyRequest;
  readonly decision: Decision;
}

interface AnswerFacts extends Pick<LedgerEntry, "outcome"> {
  /** Whether the decision to record asks. */
  readonly isAsking: boolean;
  readonly isAnswered?: boolean | undefined;
  /** The user's answer to a question. */
  readonly how?: "yes" | "no" | "typed" | undefined;
  /** The options of the request that approve it in advance. */
  readonly acceptChanged?: boolean | undefined;
  readonly confirmed?: boolean | "in_advance" | undefined;
}

/** Who answered a decision that asks, for the ledger. */
export function answerOf({
  outcome,
  isAsking,
  isAnswered = false,
  how,
  acceptChanged = false,
  confirmed,
}: AnswerFacts): Pick<LedgerRow, "answer" | "refusal"> {
  if (outcome === "denied" && isAsking) {
    if (how === undefined) return { refusal: "no_terminal" };
    // An approval can stop applying, for example because its server was replaced. The user has refused nothing then.
    return how === "no" ? { refusal: "user" } : {};
  }
  if (!isAnswered || outcome === "denied" || outcome === "changed") return {};
  if (how === "typed") return { answer: "typed" };
  const isInAdvance = confirmed === "in_advance" || (acceptChanged && how === undefined);
  return { answer: isInAdvance ? "in_advance" : "asked" };
}

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
  /** The tools that were called with success in this workspace before: latest first. */
  readonly usedTools: () => Promise<readonly ToolIdentity[]>;
  /** Resolves when every row recorded so far is on disk or has failed. */
  readonly flush: () => Promise<void>;
}

/** How many entries are searched for tools that were used before. */
const mostUsed = 1000;

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
  /** Resolves when the rows that were recorded before the ledger was open are added to it. */
  let early: Promise<unknown> = Promise.resolve();
  /** The batch of the last row. */
  let batch: Promise<void> | undefined;
  /** The rule of the last row: most rows have the same one. */
  let lastRule: { readonly rule: Decision["rule"]; readonly text: string } | undefined;

  async function open(): Promise<Opened> {
    const [{ createLedger, ledgerFolder }, { ruleText }] = await Promise.all([
      import("../../policy/ledger/ledger.ts"),
      import("../../policy/rules/rule-text.ts"),
    ]);
    return { ledger: createLedger({ folder: ledgerFolder(state), keepArguments, now, clock }), ruleText };
  }

  function tell(error: unknown): void {
    if (!isTold) emit({ type: "history_failed", message: errorMessage(error) });
    isTold = true;
  }

  function add({ ledger, ruleText }: Opened, row: LedgerRow): void {
    const { request, decision: decided, answer, answeredIn, refusal, outcome, durationMs } = row;
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
    });
    // All rows of a batch have the same promise.
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
      early = Promise.allSettled([early, added]);
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
