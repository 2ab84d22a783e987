/** Reads the history: every request with the rule that decided about it. */

import type { OpenedHost } from "@fairlead/core/host";
import { createLedger, type LedgerEntry, ledgerFolder } from "@fairlead/core/policy";
import type { HistoryCommands } from "../../protocol/history.ts";
import { aCount, anyText, aText, type Handlers, oneOf, optional } from "./parameters.ts";
import type { ServerUsage } from "./server-usage.ts";

const usualLimit = 100;
const mostEntries = 1000;
const day = 86_400_000;

/** Counts the requests of this workspace in the last 24 hours. */
export async function countHistory(host: OpenedHost, usage: ServerUsage, now: number): Promise<void> {
  const { root } = host.configuration.locations;
  const entries = await ledgerOf(host).read({
    since: new Date(now - day).toISOString(),
    matches: ({ workspace }) => workspace === root,
  });
  for (const entry of entries) usage.add(entry, Date.parse(entry.time));
}

export function historyCommands(host: OpenedHost): Handlers<HistoryCommands> {
  return {
    "history/list": {
      takes: {
        before: optional(aText),
        limit: optional(aCount(mostEntries)),
        server: optional(aText),
        client: optional(aText),
        search: optional(anyText),
        outcome: optional(oneOf("ok", "failed", "denied")),
      },
      async run({ before, limit = usualLimit, ...wanted }) {
        // The latest requests wait a moment before they are written.
        await host.flushHistory();
        const until = before?.split(" ")[0];
        const found = await ledgerOf(host).read({
          matches: (entry) => (until === undefined || entry.time <= until) && isWanted(entry, wanted),
        });
        const entries = withIds(found).toReversed();
        const start = before === undefined ? 0 : entries.findIndex(({ id }) => id === before) + 1;
        const page = entries.slice(start, start + limit);
        return { entries: page, next: entries.length > start + limit ? page.at(-1)?.id : undefined };
      },
    },
  };
}

type Wanted = Omit<HistoryCommands["history/list"]["params"], "before" | "limit">;

function isWanted(entry: LedgerEntry, { server, client, search = "", outcome }: Wanted): boolean {
  if (server !== undefined && entry.server !== server) return false;
  if (client !== undefined && entry.client !== client) return false;
  if (outcome !== undefined && outcomeOf(entry) !== outcome) return false;
  const text = [entry.server, entry.tool, entry.client, entry.rule, entry.outcome].join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function outcomeOf({ outcome, decision }: LedgerEntry): Wanted["outcome"] {
  if (outcome === "ok") return "ok";
  return outcome === "denied" || outcome === "changed" || decision === "deny" ? "denied" : "failed";
}

/** Requests that ended in the same millisecond differ by a number. */
function withIds(entries: readonly LedgerEntry[]): readonly (LedgerEntry & { readonly id: string })[] {
  let last = "";
  let count = 0;
  return entries.map((entry) => {
    count = entry.time === last ? count + 1 : 0;
    last = entry.time;
    return { ...entry, id: `${entry.time} ${count}` };
  });
}

function ledgerOf(host: OpenedHost): ReturnType<typeof createLedger> {
  const folder = ledgerFolder(host.configuration.locations.state);
  return createLedger({ folder, keepArguments: () => false, now: Date.now });
}
