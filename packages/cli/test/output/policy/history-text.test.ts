import type { LedgerEntry } from "@fairlead/core/policy/ledger/ledger-entry";
import { expect, test } from "vitest";
import { historyText } from "../../../src/output/policy/history-text.ts";
import { marked, plain } from "../../support/plain-style.ts";

const base: LedgerEntry = {
  time: "2026-01-31T08:30:05.123Z",
  server: "s",
  tool: "t",
  kind: "tool",
  argumentsDigest: "d",
  decision: "allow",
  rule: "R",
  mode: "default",
  outcome: "ok",
  durationMs: 1.6,
};

/** As without a terminal. */
const columns = Number.POSITIVE_INFINITY;

/** The row of one entry, without its time. */
function rowOf(given: Partial<LedgerEntry>): string | undefined {
  const [, row] = historyText([{ ...base, ...given }], { style: plain, isUtc: true, columns }).split("\n");
  return row?.replace(/^2026-01-31T08:30:05Z {2}/, "");
}

test("the user sees a header, one row for each request in the given order, and stored arguments below their request", () => {
  const entries: LedgerEntry[] = [
    { ...base, arguments: { a: "\u001b", b: [1] } },
    { ...base, tool: "longer", decision: "ask_user", outcome: "denied", refusal: "user", durationMs: 1234.4 },
    { ...base, time: "no time", decision: "deny", outcome: "call_timeout", durationMs: 0, arguments: {} },
  ];
  expect(historyText(entries, { style: marked, isUtc: true, columns })).toBe(
    [
      "time                  what      decision  outcome               took     rule",
      "2026-01-31T08:30:05Z  s.t       allow     ok                    2 ms     R",
      '  {"a":"\\u001b","b":[1]}',
      "2026-01-31T08:30:05Z  s.longer  ask       <red>denied</>        1234 ms  R; you said no",
      "no time               s.t       deny      <red>call_timeout</>  0 ms     R",
      "  {}",
    ].join("\n"),
  );
  expect(historyText([], { style: marked, isUtc: true, columns })).toBe("time  what  decision  outcome  took  rule");
});

test("the user sees the time of this machine unless UTC is wanted", () => {
  const time = new Date(2026, 0, 2, 3, 4, 5, 678).toISOString();
  const [, row] = historyText([{ ...base, time }], { style: plain, isUtc: false, columns }).split("\n");
  expect(row).toBe("2026-01-02 03:04:05  s.t   allow     ok       2 ms  R");
});

test.each<[given: Partial<LedgerEntry>, what: string]>([
  [{}, "s.t"],
  [{ tool: "" }, "s"],
  [{ kind: "resource", tool: "x://1\u001b" }, "read x://1␛ of s"],
  [{ kind: "prompt" }, "prompt s.t"],
  [{ kind: "sampling", tool: "" }, "sampling for s"],
  [{ kind: "sampling" }, "sampling for s.t"],
  [{ client: "cursor\u001b" }, "s.t (cursor␛)"],
  [{ client: "" }, "s.t ()"],
  [{ tool: "t".repeat(58) }, `s.${"t".repeat(58)}`],
  [{ tool: "t".repeat(59) }, `s.${"t".repeat(57)}…`],
  [{ client: "c".repeat(60) }, `s.t (${"c".repeat(60)})`],
  [{ client: "c".repeat(61) }, `s.t (${"c".repeat(59)}…)`],
  [{ kind: "resource", tool: "u".repeat(60) }, `read ${"u".repeat(59)}…`],
])("the user reads what was requested: %j", (given, what) => {
  expect(rowOf(given)).toBe(`${what.padEnd(4)}  allow     ok       2 ms  R`);
});

test.each<[given: Partial<LedgerEntry>, answer: string]>([
  [{ answer: "asked" }, "; you said yes"],
  [{ answer: "in_advance" }, "; --yes"],
  [{ answer: "asked", durationMs: 2203, confirmationMs: 2201 }, "; you said yes after 3 s"],
  [{ refusal: "user", durationMs: 121_002, confirmationMs: 121_000 }, "; you said no after 3 min"],
  [{ answer: "asked", answeredIn: "page" }, "; you said yes on the gateway's page"],
  [{ answer: "asked", answeredIn: "form" }, "; you said yes in the client's form"],
  [{ answer: "asked", answeredIn: "inbox" }, "; you said yes in the inbox"],
  [
    { answer: "asked", answeredIn: "grant", durationMs: 5, confirmationMs: 3 },
    "; you said yes before the client repeated the call",
  ],
  [{ refusal: "user" }, "; you said no"],
  [{ refusal: "user", answeredIn: "inbox" }, "; you said no in the inbox"],
  [{ refusal: "no_terminal" }, "; there was no terminal to ask on"],
])("the user reads the answer to the confirmation: %j", (given, answer) => {
  expect(rowOf(given)).toBe(`s.t   allow     ok       2 ms  R${answer}`);
});

test("a call that the user typed in the app is allowed, as one on the command line is", () => {
  expect(rowOf({ decision: "ask_user", answer: "typed" })).toBe(
    "s.t   allow     ok       2 ms  you typed it; for a model, R",
  );
});

test("the user's time is not counted as the call's", () => {
  expect(rowOf({ durationMs: 2201, confirmationMs: 2190 })).toBe("s.t   allow     ok       11 ms  R");
  expect(rowOf({ durationMs: 5, confirmationMs: 6 })).toBe("s.t   allow     ok       0 ms  R");
});

const wordy = { ...base, rule: "the default for your own requests allows it" };

test("on a terminal a rule that does not fit beside its request continues in its column", () => {
  expect(historyText([wordy, base], { style: plain, isUtc: true, columns: 90 }).split("\n")).toEqual([
    "time                  what  decision  outcome  took  rule",
    "2026-01-31T08:30:05Z  s.t   allow     ok       2 ms  the default for your own requests",
    "                                                     allows it",
    "2026-01-31T08:30:05Z  s.t   allow     ok       2 ms  R",
  ]);
});

test("on a narrow terminal the rule is below its request, and a long name too; no word is broken", () => {
  const long = { ...wordy, tool: "read_the_annotated_history_of_a_branch", arguments: { a: 1 } };
  expect(historyText([wordy, long], { style: plain, isUtc: true, columns: 70 }).split("\n")).toEqual([
    "time                  decision  outcome  took  what",
    "  rule",
    "2026-01-31T08:30:05Z  allow     ok       2 ms  s.t",
    "  the default for your own requests allows it",
    "2026-01-31T08:30:05Z  allow     ok       2 ms ",
    "  s.read_the_annotated_history_of_a_branch",
    "  the default for your own requests allows it",
    '  {"a":1}',
  ]);
});

test("the user reads that no answer came to a request of a client", () => {
  expect(rowOf({ client: "c", refusal: "no_terminal", confirmationMs: 60_000 })).toBe(
    "s.t (c)  allow     ok       0 ms  R; no answer came in 60 s",
  );
  expect(rowOf({ client: "c", refusal: "no_terminal" })).toBe("s.t (c)  allow     ok       2 ms  R; no answer came");
});
