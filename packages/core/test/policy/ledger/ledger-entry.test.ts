import { describe, expect, test } from "vitest";
import { isAlike, type LedgerEntry, parseLine, toLine } from "../../../src/policy/ledger/ledger-entry.ts";
import { called } from "../../support/ledger-sample.ts";

const { arguments: _arguments, ...record } = called;
const entry: LedgerEntry = { ...record, time: "2026-01-31T12:00:00.000Z", argumentsDigest: "ab" };

test("an entry comes back as it was", () => {
  const full: LedgerEntry = { ...entry, arguments: { a: [1] }, answer: "asked" };
  for (const each of [entry, full, { ...entry, answer: "in_advance" as const }, { ...entry, confirmationMs: 7 }])
    expect(parseLine(toLine(each))).toEqual(each);
});

describe("what is long", () => {
  test.each(["server", "tool", "rule", "client", "workspace"] as const)("is cut: %s", (field) => {
    expect(parseLine(toLine({ ...entry, [field]: "x".repeat(2000) }))?.[field]).toBe("x".repeat(2000));
    expect(parseLine(toLine({ ...entry, [field]: "x".repeat(2001) }))?.[field]).toBe(`${"x".repeat(1999)}…`);
  });

  test("is left out: arguments", () => {
    const argumentsOf = (length: number) => ({ a: "x".repeat(length - '{"a":""}'.length) });
    expect(parseLine(toLine({ ...entry, arguments: argumentsOf(65_536) }))?.arguments).toEqual(argumentsOf(65_536));
    expect(parseLine(toLine({ ...entry, arguments: argumentsOf(65_537) }))).toEqual(entry);
    // In bytes: three for each of these characters.
    const japanese = (bytes: number) => ({ a: "あ".repeat(Math.floor((bytes - '{"a":""}'.length) / 3)) });
    expect(parseLine(toLine({ ...entry, arguments: japanese(65_536) }))?.arguments).toEqual(japanese(65_536));
    expect(parseLine(toLine({ ...entry, arguments: japanese(65_539) }))).toEqual(entry);
  });
});

describe("a line is no entry", () => {
  test.each<[keyof LedgerEntry, unknown]>([
    ["time", 1],
    ["server", undefined],
    ["tool", null],
    ["argumentsDigest", 7],
    ["rule", {}],
    ["decision", "maybe"],
    ["kind", "spell"],
    ["mode", "careless"],
    ["outcome", "fine"],
    ["durationMs", "12"],
    ["confirmationMs", "12"],
    ["answer", "shouted"],
    ["arguments", []],
    ["arguments", "x"],
    ["ruleOrigin", null],
    ["workspace", 7],
    ["client", 7],
    ["answeredIn", "hall"],
    ["refusal", "weather"],
  ])("with another %s: %j", (field, value) => {
    expect(parseLine(JSON.stringify({ ...entry, [field]: value }))).toBeUndefined();
  });

  test.each(["", "{", "[]", "null", '"text"', JSON.stringify([entry])])("%s", (line) => {
    expect(parseLine(line)).toBeUndefined();
  });

  test("unless every word is one of ours", () => {
    for (const decision of ["allow", "ask_user", "deny"])
      for (const kind of ["tool", "resource", "prompt", "sampling"])
        for (const mode of ["default", "plan", "yolo"])
          for (const outcome of ["ok", "denied", "cancelled"]) {
            const line = JSON.stringify({ ...entry, decision, kind, mode, outcome });
            expect(parseLine(line)).toEqual(JSON.parse(line));
          }
  });
});

test.each<Partial<LedgerEntry>>([
  { answer: "asked" },
  { answer: "in_advance" },
  { answer: "typed" },
  { answeredIn: "page" },
  { answeredIn: "form" },
  { answeredIn: "inbox" },
  { answeredIn: "grant" },
  { refusal: "user" },
  { refusal: "no_terminal" },
  { client: "c" },
  { workspace: "/w" },
])("an entry with %j is the same after it was written and read", (more) => {
  expect(parseLine(toLine({ ...entry, ...more }))).toEqual({ ...entry, ...more });
});

describe("two entries", () => {
  test("are alike if only their times, arguments and durations differ", () => {
    expect(isAlike(entry, { ...entry })).toBe(true);
    const later: LedgerEntry = { ...entry, time: "", argumentsDigest: "", arguments: {}, durationMs: 99 };
    expect(isAlike(entry, later)).toBe(true);
  });

  test.each<Partial<LedgerEntry>>([
    { server: "x" },
    { tool: "x" },
    { kind: "prompt" },
    { client: "x" },
    { workspace: "/x" },
    { decision: "deny" },
    { rule: "x" },
    { ruleOrigin: { source: "flag", name: "x" } },
    { mode: "plan" },
    { answer: "typed" },
    { answeredIn: "page" },
    { refusal: "user" },
    { outcome: "denied" },
  ])("are not alike if one of them has %j", (more) => {
    expect(isAlike(entry, { ...entry, ...more })).toBe(false);
  });
});
