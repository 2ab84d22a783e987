/** `fairlead team audit`: the history of all users of a team, in pages. */

import { HostError } from "@fairlead/core/errors";
import { waitWords } from "@fairlead/core/plain-text";
import { type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { LedgerSearch, ReadRow } from "@fairlead/team/store/ledger";
import { table } from "../../output/output.ts";
import { decisionWord } from "../../output/policy/rule-lines.ts";
import { timeText } from "../../output/time-text.ts";
import { toMoment } from "../../shell/log-lines.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { aboutTeam, defineTenant, withTeam } from "./with-team.ts";

interface Options {
  readonly user?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly trace?: string;
  readonly since?: string;
  readonly admin?: boolean;
  readonly before?: string;
  readonly limit: string;
  readonly utc?: boolean;
}

/** The most rows of one page. */
const mostRows = 10_000;

export const verb: Verb = {
  help: `${aboutTeam}
Shows the requests of all users, newest first: when, who, with which program, which tool, the decision, the outcome and the
rule. Arguments are shown only if fairlead.audit.arguments is true in the settings. With --json, each row is one line of
JSON. A page ends with the command for the next one; --before takes the id of the last row.

Examples:
  fairlead team audit --since 1h
  fairlead team audit --user 'https://idp.example#ada' --server github --tool merge
  fairlead team audit --outcome denied --since 7d --json
  fairlead team audit --trace 4bf92f3577b34da6a3ce929d0e0e4736
  fairlead team audit --admin`,

  define(command) {
    command
      .option("--user <user>", "only requests of this user, as ISSUER#SUBJECT")
      .option("--server <name>", "only requests to this server")
      .option("--tool <name>", "only this tool or prompt, or the resource with this URI")
      .option("--outcome <code>", "only requests that ended so: ok, tool_error, denied, unknown or another error code")
      .option("--trace <id>", "only requests of this trace (OpenTelemetry)")
      .option("--since <when>", "only newer rows: 10m, 2h or 3d ago, or a time like 2026-01-31T08:30")
      .option("--admin", "only changes of policy, API keys and users")
      .option("--before <id>", "only rows before this one")
      .option("--limit <number>", "the rows of a page", "50")
      .option("--utc", "show times in UTC, and read --since as UTC; --json always prints UTC");
    defineTenant(command);
  },

  async run(context) {
    const { out, globals, command } = context;
    const options = command.opts<Options>();
    const search = await toSearch(options);
    const rows = await withTeam(context, ({ admin }) => admin.audit(search));
    const last = rows.length < search.limit ? undefined : rows.at(-1)?.id;
    if (globals.json) for (const row of rows) out.print(toSafeJson({ schemaVersion: 1, ...toDocument(row) }, 0));
    else if (rows.length === 0) out.say(safe`no matching rows`);
    else out.print(table([head, ...rows.map((row) => toCells(row, context, options.utc === true))]));
    if (last !== undefined && !globals.json)
      out.say(safe`next page: the same command with --before ${toSafeLine(last)}`);
  },
};

async function toSearch({
  user: principal,
  server,
  tool,
  outcome,
  trace: traceId,
  since,
  admin: isAdmin = false,
  before,
  limit,
  utc: isUtc = false,
}: Options): Promise<Omit<LedgerSearch, "tenant">> {
  if (traceId !== undefined && !/^[0-9a-f]{32}$/.test(traceId))
    throw new HostError("usage", `--trace must be 32 hexadecimal digits, not "${traceId}"`);
  if (!/^[1-9]\d{0,4}$/.test(limit) || Number(limit) > mostRows)
    throw new HostError("usage", `--limit must be a whole number from 1 to ${mostRows}, not "${limit}"`);
  const given = { principal, server, tool, outcome, traceId, kind: isAdmin ? "admin" : undefined } as const;
  const { timeOfRequest } = await import("@fairlead/team/store/ledger");
  const at = before === undefined ? undefined : timeOfRequest(before);
  if (before !== undefined && at === undefined)
    throw new HostError("usage", `--before must be the id of a row, not "${before}"`);
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(since !== undefined && { since: toMoment(since, Date.now(), { isUtc }) }),
    ...(before !== undefined && at !== undefined && { before: { id: before, at } }),
    limit: Number(limit),
  };
}

const head = ["time", "user", "client", "what", "decision", "outcome", "took", "rule"].map((text) => toSafeLine(text));

function toCells(row: ReadRow, { out }: Pick<Context, "out">, isUtc: boolean): readonly SafeText[] {
  const { at, owner, client, server, tool, kind, decision, outcome, durationMs, rule, answer, answeredIn } = row;
  const what = kind === "tool" || kind === "admin" ? `${server}.${tool}` : `${kind} ${server}.${tool}`;
  const how = answer === undefined ? "" : `; confirmed${answeredIn === undefined ? "" : ` (${answeredIn})`}`;
  return [
    toSafeLine(timeText(new Date(at).toISOString(), isUtc)),
    toVisibleLine(owner.principal),
    toVisibleLine(client ?? ""),
    toVisibleLine(what),
    decisionWord(decision, out.style),
    toVisibleLine(outcome),
    toSafeLine(waitWords(durationMs)),
    toVisibleLine(`${rule}${how}`),
  ];
}

/** A row as `--json` prints it. */
function toDocument({ owner, at, argsDigest, ...row }: ReadRow): object {
  return {
    ...row,
    tenant: owner.tenant,
    user: owner.principal,
    time: new Date(at).toISOString(),
    argumentsDigest: argsDigest.toString("hex"),
  };
}
