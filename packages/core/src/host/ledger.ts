/** The ledger of a host: opened with the first entry. That an entry cannot be written stops nobody's work, and is told once. */

import type { Emitter } from "../events.ts";
import type { PolicyRequest } from "../policy/judge.ts";
import type { Ledger } from "../policy/ledger.ts";
import type { LedgerEntry } from "../policy/ledger-entry.ts";
import type { ApprovalMode, PolicyVerdict } from "../policy/rule.ts";
import { once } from "./once.ts";

/** A request that was decided, and what came of it. */
export interface Decided extends Pick<LedgerEntry, "answer" | "outcome" | "durationMs"> {
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
}

export interface HostLedgerOptions {
  /** Where the state of ours lives. */
  readonly state: string;
  readonly keepArguments: () => boolean;
  readonly mode: ApprovalMode;
  /** Milliseconds since 1970. */
  readonly today: () => number;
  readonly emit: Emitter["emit"];
}

export interface HostLedger {
  readonly record: (decided: Decided) => void;
  /** Resolves when everything is on the disk that can be. */
  readonly close: () => Promise<void>;
}

export function createHostLedger({ state, keepArguments, mode, today, emit }: HostLedgerOptions): HostLedger {
  let isTold = false;
  let last: Promise<unknown> = Promise.resolve();

  const open = once(async (): Promise<Opened> => {
    const [{ createLedger, ledgerFolder }, { ruleText }] = await Promise.all([
      import("../policy/ledger.ts"),
      import("../policy/rule-text.ts"),
    ]);
    return { ledger: createLedger({ folder: ledgerFolder(state), keepArguments, today }), ruleText };
  });

  function tell(error: unknown): void {
    if (!isTold) emit({ type: "history_failed", message: error instanceof Error ? error.message : String(error) });
    isTold = true;
  }

  async function write({ request, verdict, answer, outcome, durationMs }: Decided): Promise<void> {
    const { serverName: server, serverToolName: tool, kind = "tool", args = {} } = request;
    const { decision, rule } = verdict;
    const { ledger, ruleText } = await open();
    await ledger.write({
      server,
      tool,
      kind,
      arguments: args,
      decision,
      rule: ruleText(rule),
      ruleOrigin: rule.origin,
      mode,
      ...(answer && { answer }),
      outcome,
      durationMs,
    });
  }

  return {
    record(decided) {
      last = Promise.allSettled([last, write(decided).catch(tell)]);
    },
    async close() {
      await last;
    },
  };
}

interface Opened {
  readonly ledger: Ledger;
  readonly ruleText: (rule: PolicyVerdict["rule"]) => string;
}
