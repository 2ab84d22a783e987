/** `fairlead history`: shows past requests to servers with their decision and outcome. */

import { HostError } from "@fairlead/core/errors";
import { createLedger, type LedgerEntry, ledgerFolder } from "@fairlead/core/policy";
import { safe } from "@fairlead/core/text/safe-text";
import { historyText } from "../output/policy/history-text.ts";
import { columnsOf } from "../output/wrap.ts";
import { configurationOf } from "../shell/configuration.ts";
import { toMoment } from "../shell/log-lines.ts";
import type { Verb } from "../shell/verb.ts";

interface Options {
  readonly server?: string;
  readonly tool?: string;
  readonly client?: string;
  readonly since?: string;
  readonly trace?: string;
  readonly denied?: boolean;
  readonly utc?: boolean;
  readonly limit: string;
}

export const verb: Verb = {
  help: `
Fairlead records every tool call, resource read and prompt: time, server, tool, decision, outcome and duration, without
the time that you took to answer a confirmation. With telemetry (docs/telemetry.md), also the id of the trace. The newest request is last, in local time. Fairlead stores only a digest of the arguments; to store the arguments too, set
"fairlead": {"audit": {"arguments": true}} in your settings. The history never leaves this machine.

Examples:
  fairlead history
  fairlead history --server github --since 1d
  fairlead history --client claude-code
  fairlead history --denied --json
  fairlead history --trace 4bf92f3577b34da6a3ce929d0e0e4736`,

  define(command) {
    command
      .option("--server <name>", "only requests to this server")
      .option("--tool <name>", "only this tool or prompt (by its name on the server) or resource (by its URI)")
      .option("--client <name>", "only requests from this client of fairlead serve, such as claude-code")
      .option("--since <when>", "only newer entries: 10m, 2h or 3d ago, or a time like 2026-01-31T08:30")
      .option("--trace <id>", "only requests of this trace: its id, or a traceparent")
      .option("--denied", "only denied requests")
      .option("--utc", "show times in UTC, and read --since as UTC; --json always prints UTC")
      .option("--limit <number>", "show only this many of the newest entries", "50");
  },

  async run(context) {
    const { io, out, globals, command } = context;
    const { limit, ...filters } = command.opts<Options>();
    const { utc: isUtc = false } = filters;
    const matches = toFilter(filters, Date.now());
    const most = toCount(limit);
    const { locations } = await configurationOf(context);
    const ledger = createLedger({ folder: ledgerFolder(locations.state), keepArguments: () => false, now: Date.now });
    const entries = await ledger.read({ matches, limit: most });
    if (globals.json) return out.json({ entries });
    if (entries.length === 0) return out.say(safe`no matching entries in the history`);
    out.print(historyText(entries, { style: out.style, isUtc, columns: columnsOf(io.stdout) }));
    if (entries.length === most) out.say(safe`showing the last ${most}; use --limit to show more`);
  },
};

function toFilter(
  { server, tool, client, since, trace, denied = false, utc = false }: Omit<Options, "limit">,
  now: number,
): (entry: LedgerEntry) => boolean {
  const from = since === undefined ? "" : new Date(toMoment(since, now, { isUtc: utc })).toISOString();
  const traceId = trace === undefined ? undefined : toTraceId(trace);
  return (entry) =>
    (traceId === undefined || entry.traceId === traceId) &&
    (server === undefined || entry.server === server) &&
    (tool === undefined || entry.tool === tool) &&
    (client === undefined || entry.client === client) &&
    entry.time >= from &&
    (!denied || isRefused(entry));
}

/** Whether the request was denied by a rule or a person, or refused because the tool's definition had changed. */
function isRefused({ decision, outcome }: LedgerEntry): boolean {
  return decision === "deny" || outcome === "denied" || outcome === "changed";
}

/** Reads the id of a trace, as 32 hex digits or as a `traceparent`. */
function toTraceId(word: string): string {
  const [, id] = /^(?:[0-9a-f]{2}-)?([0-9a-f]{32})(?:-[0-9a-f]{16}-[0-9a-f]{2})?$/.exec(word.toLowerCase()) ?? [];
  if (id !== undefined) return id;
  throw new HostError("usage", `--trace must be the 32 hex digits of a trace's id, not "${word}"`, {
    next: "fairlead history --json",
  });
}

function toCount(word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  throw new HostError("usage", `--limit must be a whole number above zero, not "${word}"`, { next: "--limit 200" });
}
