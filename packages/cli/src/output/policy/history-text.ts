/** Formats the history as a table with one line for each request, newest last. */

import type { LedgerEntry } from "@fairlead/core/policy/ledger/ledger-entry";
import { joinSafe, type SafeText, safe, splitSafe, toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { type Style, table } from "../output.ts";
import { timeText } from "../time-text.ts";

const longestName = 60;

/** How to print the history. */
export interface HistoryTextOptions {
  readonly style: Style;
  /** Whether times are in UTC. Default: local time. */
  readonly isUtc: boolean;
}

/** Returns the table with a header. Stored arguments follow on the line below their request. */
export function historyText(entries: readonly LedgerEntry[], options: HistoryTextOptions): SafeText {
  const head = [safe`time`, safe`what`, safe`decision`, safe`outcome`, safe`took`, safe`rule`];
  const lines = splitSafe(table([head, ...entries.map((entry) => row(entry, options))]));
  return joinSafe(lines.flatMap((line, at) => [line, ...argumentLines(entries[at - 1])]));
}

function row(entry: LedgerEntry, { style, isUtc }: HistoryTextOptions): readonly SafeText[] {
  const { time, decision, outcome, durationMs, rule } = entry;
  const ended = outcome === "ok" ? safe`ok` : style.red(toSafeLine(outcome));
  return [
    toSafeLine(timeText(time, isUtc)),
    what(entry),
    decision === "ask_user" ? safe`ask` : toSafeLine(decision),
    ended,
    safe`${Math.round(durationMs)} ms`,
    safe`${toSafeLine(rule)}${answerText(entry)}`,
  ];
}

/** Returns how and where the user answered the confirmation, or why Fairlead could not ask. */
function answerText({ answer, answeredIn, refusal, client }: LedgerEntry): SafeText {
  const where = answeredIn === undefined ? safe`` : answerPlaces[answeredIn];
  if (refusal === "user") return safe`; you said no${where}`;
  if (refusal !== undefined)
    return client === undefined ? safe`; there was no terminal to ask on` : safe`; there was no way to ask you`;
  return safe`${yes[answer ?? "none"]}${where}`;
}

const answerPlaces = {
  page: safe` on the gateway's page`,
  form: safe` in the client's form`,
  inbox: safe` in the inbox`,
  grant: safe` before the client repeated the call`,
} as const;

const yes = {
  none: safe``,
  asked: safe`; you said yes`,
  in_advance: safe`; --yes`,
  typed: safe`; you typed it`,
} as const;

function what(entry: LedgerEntry): SafeText {
  const { client } = entry;
  return client === undefined ? subject(entry) : safe`${subject(entry)} (${toSafeLine(clip(client, longestName))})`;
}

function subject({ kind, server, tool }: LedgerEntry): SafeText {
  const names = toSafeLine(clip(tool === "" ? server : `${server}.${tool}`, longestName));
  switch (kind) {
    case "tool":
      return names;
    case "resource":
      return safe`read ${toSafeLine(clip(`${tool} of ${server}`, longestName))}`;
    case "prompt":
      return safe`prompt ${names}`;
    case "sampling":
      return safe`sampling for ${names}`;
  }
}

function argumentLines(entry: LedgerEntry | undefined): readonly SafeText[] {
  return entry?.arguments === undefined ? [] : [safe`  ${toSafeJson(entry.arguments, 0)}`];
}
