/** The ledger as a table: one entry a line, newest last. */

import type { LedgerEntry } from "@fairlead/core/policy/ledger/ledger";
import { joinSafe, type SafeText, safe, splitSafe, toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { type Style, table } from "../output.ts";

const longestName = 60;

export function historyText(entries: readonly LedgerEntry[], style: Style): SafeText {
  const head = [safe`time`, safe`what`, safe`decision`, safe`outcome`, safe`took`, safe`rule`];
  const lines = splitSafe(table([head, ...entries.map((entry) => row(entry, style))]));
  return joinSafe(lines.flatMap((line, at) => [line, ...argumentLines(entries[at - 1])]));
}

function row(entry: LedgerEntry, style: Style): readonly SafeText[] {
  const { time, decision, answer, outcome, durationMs, rule } = entry;
  const ended = outcome === "ok" ? safe`ok` : style.red(toSafeLine(outcome));
  // Without fractions of a second: 2026-01-31T08:30:05Z
  const moment = toSafeLine(time.replace(/\.\d+Z$/, "Z"));
  return [
    moment,
    what(entry),
    toSafeLine(decision),
    ended,
    safe`${Math.round(durationMs)} ms`,
    safe`${toSafeLine(rule)}${yes[answer ?? "none"]}`,
  ];
}

/** How the user confirmed the request, if a rule asked for confirmation. */
const yes = { none: safe``, asked: safe`; you said yes`, in_advance: safe`; --yes` } as const;

function what({ kind, server, tool }: LedgerEntry): SafeText {
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
