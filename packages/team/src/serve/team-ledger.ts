/** The ledger of one user's host: intents before requests are sent, rows before their answers leave. */

import { HostError } from "@fairlead/core";
import type { Clock } from "@fairlead/core/clock";
import type { LedgerRow, RequestLedger } from "@fairlead/core/host";
import { canonicalJson } from "@fairlead/core/plain-text";
import { ruleText, type ToolIdentity } from "@fairlead/core/policy";
import type { KeyRing } from "../store/key-ring.ts";
import { type AuditRow, type Intent, type LedgerStore, newRequestId } from "../store/ledger.ts";
import type { Owner } from "../store/owner.ts";
import { isStoreAway } from "../store/store.ts";
import { type Log, userDigest } from "./log.ts";

type LedgerRequest = LedgerRow["request"];

export interface TeamLedgerOptions {
  readonly store: LedgerStore;
  readonly ring: KeyRing;
  readonly owner: Owner;
  /** The number of this replica. */
  readonly replica: number;
  /** Whether an intent is stored before a request is sent. */
  readonly isStrict: boolean;
  /** The version of policy and settings that the user's host applies now. */
  readonly configVersion: () => number;
  /** Whether rows have the arguments. */
  readonly keepArguments: () => boolean;
  /** Waits until the user may send a request to the server, or rejects with `busy`. */
  readonly take: (server: string) => Promise<void>;
  readonly log: Log;
  readonly clock: Pick<Clock, "now" | "after">;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Milliseconds between two attempts to store the row of a request that was sent, and for how long they are made. Its answer
 * waits: after a short outage it is still a sure one.
 */
const storing = { pause: 250, longest: 10_000 } as const;
/** How many rows are read to find the tools that a user has called. */
const usedRows = 500;

export class TeamLedger implements RequestLedger {
  readonly #options: TeamLedgerOptions;
  readonly #digest: string;
  /** The versions that decided about the requests that run now, by the ids of their intents. */
  readonly #versions = new Map<string, number>();

  constructor(options: TeamLedgerOptions) {
    this.#options = options;
    this.#digest = userDigest(options.owner);
  }

  async begin(request: LedgerRequest): Promise<string> {
    const { store, isStrict, configVersion, now, take } = this.#options;
    await take(request.serverName);
    const id = newRequestId(now());
    const version = configVersion();
    if (isStrict) await store.begin(this.#intent(id, request));
    this.#versions.set(id, version);
    return id;
  }

  async record(row: LedgerRow, begun?: string): Promise<void> {
    const { configVersion, keepArguments, log, now } = this.#options;
    const { request, decision, answer, answeredIn, refusal, outcome, durationMs, confirmationMs, traceId } = row;
    const version = (begun === undefined ? undefined : this.#versions.get(begun)) ?? configVersion();
    if (begun !== undefined) this.#versions.delete(begun);
    const intent = this.#intent(begun ?? newRequestId(now()), request);
    const stored: AuditRow = {
      ...intent,
      client: request.client,
      arguments: keepArguments() ? request.args : undefined,
      decision: decision.decision,
      rule: ruleText(decision.rule),
      ruleOrigin: decision.rule.origin,
      mode: "default",
      answer,
      answeredIn,
      refusal,
      outcome,
      durationMs,
      confirmationMs,
      traceId,
      configVersion: version,
    };
    await this.#store(stored, begun !== undefined);
    log("info", "request", {
      id: intent.id,
      user: this.#digest,
      client: request.client,
      kind: intent.kind,
      server: intent.server,
      tool: intent.kind === "resource" ? undefined : intent.tool,
      decision: decision.decision,
      outcome,
      duration_ms: durationMs,
      config_version: version,
      trace_id: traceId,
    });
  }

  async usedTools(): Promise<readonly ToolIdentity[]> {
    const { store, owner } = this.#options;
    const rows = await store.read({ ...owner, limit: usedRows }).catch(() => []);
    return rows
      .filter(({ kind, outcome }) => kind === "tool" && outcome === "ok")
      .map(({ server, tool }) => ({ serverName: server, serverToolName: tool }));
  }

  /** Every request has waited for its row. */
  flush(): Promise<void> {
    return Promise.resolve();
  }

  /** A row that is stored already is stored once: its id is the same. */
  async #store(row: AuditRow, wasSent: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const end = clock.now() + storing.longest;
    for (;;) {
      try {
        await store.record(row);
        return;
      } catch (error) {
        if (!wasSent || !isStoreAway(error)) throw error;
        if (clock.now() >= end) throw doubtful(row, error);
      }
      await new Promise<void>((resolve) => void clock.after(storing.pause, resolve));
    }
  }

  #intent(id: string, { serverName, serverToolName, kind = "tool", args = {} }: LedgerRequest): Intent {
    const { ring, owner, replica } = this.#options;
    const argsDigest = ring.digest(canonicalJson(args));
    return { id, owner, replica, kind, server: serverName, tool: serverToolName, argsDigest };
  }
}

/** The server may have run the request, so its sender must not take the answer for a refusal and send it again. */
function doubtful({ server, tool }: Intent, cause: unknown): HostError {
  const what = `${server}.${tool} was sent, but its row could not be stored`;
  return new HostError("lost", `${what}: PostgreSQL is not reachable; the request may or may not have run`, {
    serverName: server,
    cause,
    next: "Find out whether the request ran before you repeat it.",
  });
}
