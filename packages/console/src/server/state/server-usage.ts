/** How each server was used in the last 24 hours: from the history, and from the requests that end while this runs. */

import type { LedgerEntry } from "@fairlead/core/policy";

const day = 86_400_000;
const spanTime = 300_000;
/** Durations that are kept of one span of five minutes, for the median. */
const mostDurations = 16;

interface Span {
  readonly began: number;
  calls: number;
  readonly durations: number[];
}

/** The calls of one server in the last 24 hours. */
export interface Usage {
  readonly calls: number;
  /** The latest failure that says something about the server, as a code. */
  readonly lastError?: string | undefined;
  readonly median?: number | undefined;
}

/** Failures that say nothing about the server. */
const notOfServer: ReadonlySet<string> = new Set(
  "denied changed cancelled arguments_invalid tool_unknown usage".split(" "),
);

interface ServerUse {
  readonly spans: Span[];
  lastError: { readonly at: number; readonly code: string } | undefined;
}

/** The end of one request. */
export type EndedUse = Pick<LedgerEntry, "server" | "outcome" | "durationMs" | "confirmationMs">;

/** Counts calls by server. Its size depends on the number of servers only. */
export class ServerUsage {
  readonly #servers = new Map<string, ServerUse>();

  /** Adds a request that ended at `at`, in milliseconds since 1970. Requests are added in the order of their time. */
  add({ server, outcome, durationMs, confirmationMs = 0 }: EndedUse, at: number): void {
    const use = this.#servers.get(server) ?? { spans: [], lastError: undefined };
    this.#servers.set(server, use);
    const latest = use.spans.at(-1);
    const span = latest !== undefined && at - latest.began < spanTime ? latest : { began: at, calls: 0, durations: [] };
    if (span !== latest) use.spans.push(span);
    span.calls += 1;
    if (outcome === "ok") {
      if (span.durations.length === mostDurations) span.durations.shift();
      span.durations.push(Math.max(0, durationMs - confirmationMs));
    } else if (!notOfServer.has(outcome)) use.lastError = { at, code: outcome };
  }

  of(server: string, now: number): Usage {
    const use = this.#servers.get(server);
    if (use === undefined) return { calls: 0 };
    while (use.spans[0] !== undefined && use.spans[0].began + day < now) use.spans.shift();
    const durations = use.spans.flatMap((span) => span.durations).sort((one, other) => one - other);
    return {
      calls: use.spans.reduce((sum, span) => sum + span.calls, 0),
      lastError: use.lastError !== undefined && use.lastError.at + day >= now ? use.lastError.code : undefined,
      median: durations[Math.floor(durations.length / 2)],
    };
  }

  /** Forgets servers that no longer exist. */
  keepOnly(servers: readonly string[]): void {
    for (const name of this.#servers.keys()) if (!servers.includes(name)) this.#servers.delete(name);
  }
}
