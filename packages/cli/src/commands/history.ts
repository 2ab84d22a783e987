/** `fairlead history`: what was asked of servers, who decided and what came of it. */

import { HostError } from "@fairlead/core/errors";
import { createLedger, ledgerFolder } from "@fairlead/core/policy/ledger/ledger";
import type { LedgerEntry } from "@fairlead/core/policy/ledger/ledger-entry";
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
  define(command) {
    command
      .option("--server <name>", "only what was asked of this server")
      .option("--tool <name>", "only this tool, by the server's own name; of resources the URI, of prompts the name")
      .option("--since <when>", "only from then on: 10m, 2h, 3d ago, or a time like 2026-01-31T08:30")
      .option("--denied", "only what was refused")
      .option("--limit <number>", "so many at the most, the newest", "50")
      .addHelpText(
        "after",
        `
Every call, every resource that was read and every prompt leaves an entry: when, which server and tool, who decided, what
came of it and how long it took; newest last. Arguments are not kept, only a digest that is the same for the same
arguments; "fairlead": {"audit": {"arguments": true}} in your settings keeps them. Nothing of it leaves this machine.

Examples:
  fairlead history
  fairlead history --server github --since 1d
  fairlead history --denied --json`,
      );
  },

  async run(context) {
    const { out, globals, command } = context;
    const { limit, ...filters } = command.opts<Options>();
    const matches = toFilter(filters, Date.now());
    const most = toCount(limit);
    const { locations } = await configurationOf(context);
    const ledger = createLedger({ folder: ledgerFolder(locations.state), keepArguments: () => false, today: Date.now });
    const entries = await ledger.read({ matches, limit: most });
    if (globals.json) return out.json({ entries });
    if (entries.length === 0) return out.say(safe`nothing was asked of a server that fits`);
    out.print(historyText(entries, out.style));
    if (entries.length === most) out.say(safe`the last ${most}; --limit shows more`);
  },
};

function toFilter(
  { server, tool, since, denied = false }: Omit<Options, "limit">,
  now: number,
): (entry: LedgerEntry) => boolean {
  // Times in one form and one zone compare as text.
  const from = since === undefined ? "" : new Date(toMoment(since, now)).toISOString();
  return (entry) =>
    (server === undefined || entry.server === server) &&
    (tool === undefined || entry.tool === tool) &&
    entry.time >= from &&
    (!denied || isRefused(entry));
}

/** A rule said no, or a person did, or the tool was no longer the one that had been shown. */
function isRefused({ decision, outcome }: LedgerEntry): boolean {
  return decision === "deny" || outcome === "denied" || outcome === "changed";
}

function toCount(word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  throw new HostError("usage", `--limit takes a number from 1 on, not "${word}"`, { next: "--limit 200" });
}
