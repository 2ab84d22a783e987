/** The ledger of one user's host: intents before requests are sent, rows before their answers leave. */

import { HostError } from "@fairlead/core";
import type { LedgerRow, RequestLedger } from "@fairlead/core/host";
import { canonicalJson } from "@fairlead/core/plain-text";
import { ruleText, type ToolIdentity } from "@fairlead/core/policy";
import type { KeyRing } from "../store/key-ring.ts";
import { type Intent, type LedgerStore, newRequestId } from "../store/ledger.ts";
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
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

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
    const { store, configVersion, keepArguments, log, now } = this.#options;
    const { request, decision, answer, answeredIn, refusal, outcome, durationMs, confirmationMs, traceId } = row;
    const version = (begun === undefined ? undefined : this.#versions.get(begun)) ?? configVersion();
    if (begun !== undefined) this.#versions.delete(begun);
    const intent = this.#intent(begun ?? newRequestId(now()), request);
    const stored = store.record({
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
    });
    await stored.catch((error: unknown) => {
      throw begun !== undefined && isStoreAway(error) ? doubtful(intent, error) : error;
    });
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
