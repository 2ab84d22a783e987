/** Formats the history as a table with one row for each request, newest last, as wide as the terminal. */

import { waitWords } from "@fairlead/core/plain-text";
import type { LedgerEntry } from "@fairlead/core/policy";
import {
  joinSafe,
  repeatSafe,
  type SafeText,
  safe,
  sliceSafe,
  splitSafe,
  toSafeJson,
  toSafeLine,
} from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { type Style, table } from "../output.ts";
import { timeText } from "../time-text.ts";
import { fill, width, words } from "../wrap.ts";

const longestName = 60;
/** A rule in a narrower column would take too many lines. It is printed below its request then. */
const narrowestRule = 30;

/** How to print the history. */
export interface HistoryTextOptions {
  readonly style: Style;
  /** Whether times are in UTC. Default: local time. */
  readonly isUtc: boolean;
  /** The width of the terminal; infinite without one. */
  readonly columns: number;
}

interface Row {
  readonly time: SafeText;
  readonly what: SafeText;
  readonly decision: SafeText;
  readonly outcome: SafeText;
  readonly took: SafeText;
  readonly rule: SafeText;
}

/** Returns the table with a header. Stored arguments and the trace's id follow on lines below their request. */
export function historyText(entries: readonly LedgerEntry[], options: HistoryTextOptions): SafeText {
  const rows = [head, ...entries.map((entry) => rowOf(entry, options))];
  const starts = splitSafe(
    table(rows.map(({ time, what, decision, outcome, took }) => [time, what, decision, outcome, took, safe`|`])),
  );
  const column = Math.max(...starts.map(width)) - 1;
  const lines =
    options.columns - column >= narrowestRule ? besideRules(rows, column, options) : aboveRules(rows, options);
  return joinSafe(lines.flatMap((row, at) => [...row, ...linesBelow(entries[at - 1])]));
}

const head: Row = {
  time: safe`time`,
  what: safe`what`,
  decision: safe`decision`,
  outcome: safe`outcome`,
  took: safe`took`,
  rule: safe`rule`,
};

/** Returns the lines of each row. The rule has the last column. */
function besideRules(
  rows: readonly Row[],
  column: number,
  { columns }: HistoryTextOptions,
): readonly (readonly SafeText[])[] {
  const hanging = repeatSafe(safe` `, column);
  const cells = rows.map(({ rule }) =>
    fill(words(rule), { columns: columns - column, indent: safe``, hanging: safe`` }),
  );
  const firsts = table(
    rows.map(({ time, what, decision, outcome, took }, at) => [
      time,
      what,
      decision,
      outcome,
      took,
      cells[at]?.[0] ?? safe``,
    ]),
  );
  return splitSafe(firsts).map((line, at) => [
    line,
    ...(cells[at] ?? []).slice(1).map((more) => safe`${hanging}${more}`),
  ]);
}

/** Returns the lines of each row. The rule is below, and the name, which may be long, is at the end of the first line. */
function aboveRules(rows: readonly Row[], { columns }: HistoryTextOptions): readonly (readonly SafeText[])[] {
  const firsts = splitSafe(
    table(rows.map(({ time, decision, outcome, took }) => [time, decision, outcome, took, safe`|`])),
  );
  return rows.map(({ what, rule }, at) => {
    // Without the sign in the last column and one of the spaces before it: `fill` adds that space.
    const start = sliceSafe(firsts[at] ?? safe``, 0, -2);
    return [
      ...fill([start, what], { columns, indent: safe``, hanging: safe`  ` }),
      ...fill(words(rule), { columns, indent: safe`  `, hanging: safe`  ` }),
    ];
  });
}

function rowOf(entry: LedgerEntry, { style, isUtc }: HistoryTextOptions): Row {
  const { time, outcome, durationMs, confirmationMs = 0 } = entry;
  return {
    time: toSafeLine(timeText(time, isUtc)),
    what: what(entry),
    decision: decisionWord(entry),
    outcome: outcome === "ok" ? safe`ok` : style.red(toSafeLine(outcome)),
    took: safe`${Math.max(0, Math.round(durationMs - confirmationMs))} ms`,
    rule: ruleText(entry),
  };
}

/** A typed call is the user's own decision, in the app as on the command line. */
function decisionWord({ decision, answer }: LedgerEntry): SafeText {
  if (answer === "typed") return safe`allow`;
  return decision === "ask_user" ? safe`ask` : toSafeLine(decision);
}

function ruleText(entry: LedgerEntry): SafeText {
  const { rule, answer } = entry;
  if (answer === "typed") return safe`you typed it; for a model, ${toSafeLine(rule)}`;
  return safe`${toSafeLine(rule)}${answerText(entry)}`;
}

/** Returns how, where and after which time the user answered the confirmation, or that Fairlead got no answer. */
function answerText({ answer, answeredIn, refusal, client, confirmationMs }: LedgerEntry): SafeText {
  const where = answeredIn === undefined ? safe`` : answerPlaces[answeredIn];
  const time = confirmationMs === undefined ? undefined : toSafeLine(waitWords(confirmationMs));
  // An answer that was there before the request took no time.
  const after = time === undefined || answeredIn === "grant" ? safe`` : safe` after ${time}`;
  if (refusal === "user") return safe`; you said no${where}${after}`;
  if (refusal === "edited") return safe`; you changed the arguments${after}`;
  if (refusal !== undefined) {
    if (client === undefined) return safe`; there was no terminal to ask on`;
    return time === undefined ? safe`; no answer came` : safe`; no answer came in ${time}`;
  }
  if (answer === "asked") return safe`; you said yes${where}${after}`;
  return answer === "in_advance" ? safe`; --yes` : safe``;
}

const answerPlaces = {
  page: safe` on the gateway's page`,
  form: safe` in the client's form`,
  inbox: safe` in the inbox`,
  grant: safe` before the client repeated the call`,
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
    case "host":
      return safe`host ${toSafeLine(clip(`${tool} for ${server}`, longestName))}`;
    case "skill":
      return safe`skill ${toSafeLine(clip(`${tool} of ${server}`, longestName))}`;
  }
}

function linesBelow(entry: LedgerEntry | undefined): readonly SafeText[] {
  const { arguments: args, traceId } = entry ?? {};
  return [
    ...(args === undefined ? [] : [safe`  ${toSafeJson(args, 0)}`]),
    ...(traceId === undefined ? [] : [safe`  trace ${toSafeLine(traceId)}`]),
  ];
}
