/** `fairlead history`: shows past requests to servers with their decision and outcome. */

import { HostError } from "@fairlead/core/errors";
import { createLedger, type LedgerEntry, ledgerFolder } from "@fairlead/core/policy/ledger/ledger";
import { safe } from "@fairlead/core/text/safe-text";
import { historyText } from "../output/policy/history-text.ts";
import { configurationOf } from "../shell/configuration.ts";
import { toMoment } from "../shell/log-filter.ts";
import type { Verb } from "../shell/verb.ts";

interface Options {
  readonly server?: string;
  readonly tool?: string;
  readonly since?: string;
  readonly denied?: boolean;
  readonly limit: string;
}

export const verb: Verb = {
  help: `
Fairlead records every tool call, resource read and prompt: time, server, tool, decision, outcome and duration; newest
last. It stores a digest of the arguments, not the arguments; to store them, set
"fairlead": {"audit": {"arguments": true}} in your settings. The history never leaves this machine.

Examples:
  fairlead history
  fairlead history --server github --since 1d
  fairlead history --denied --json`,

  define(command) {
    command
      .option("--server <name>", "only requests to this server")
      .option("--tool <name>", "only this tool (the server's own name), resource (URI) or prompt (name)")
      .option("--since <when>", "only newer entries: 10m, 2h or 3d ago, or a time like 2026-01-31T08:30")
      .option("--denied", "only denied requests")
      .option("--limit <number>", "show at most this many entries, the newest ones", "50");
  },

  async run(context) {
    const { out, globals, command } = context;
    const { limit, ...filters } = command.opts<Options>();
    const matches = toFilter(filters, Date.now());
    const most = toCount(limit);
    const { locations } = await configurationOf(context);
    const ledger = createLedger({ folder: ledgerFolder(locations.state), keepArguments: () => false, now: Date.now });
    const entries = await ledger.read({ matches, limit: most });
    if (globals.json) return out.json({ entries });
    if (entries.length === 0) return out.say(safe`no matching entries in the history`);
    out.print(historyText(entries, out.style));
    if (entries.length === most) out.say(safe`showing the last ${most}; use --limit to show more`);
  },
};

function toFilter(
  { server, tool, since, denied = false }: Omit<Options, "limit">,
  now: number,
): (entry: LedgerEntry) => boolean {
  // ISO 8601 times in UTC sort as text.
  const from = since === undefined ? "" : new Date(toMoment(since, now)).toISOString();
  return (entry) =>
    (server === undefined || entry.server === server) &&
    (tool === undefined || entry.tool === tool) &&
    entry.time >= from &&
    (!denied || isRefused(entry));
}

/** Denied by a rule or a person, or refused because the definition had changed. */
function isRefused({ decision, outcome }: LedgerEntry): boolean {
  return decision === "deny" || outcome === "denied" || outcome === "changed";
}

function toCount(word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  throw new HostError("usage", `--limit must be a whole number above zero, not "${word}"`, { next: "--limit 200" });
}
