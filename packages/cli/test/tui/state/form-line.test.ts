import type { Choice, FieldInput } from "@fairlead/console/form/form-field";
import { expect, test } from "vitest";
import { entryFrom } from "../../../src/tui/state/form-line.ts";

const choice = (value: unknown, title: string): Choice => ({ value, title });
const chosen = (choices: readonly Choice[], line: string) => entryFrom({ kind: "choice", choices }, line);
const several = (choices: readonly Choice[], line: string) => entryFrom({ kind: "choices", choices }, line);

test.each<[line: string, isOn: boolean]>([
  ["y", true],
  [" YES ", true],
  ["true", true],
  ["n", false],
  ["no", false],
  ["False", false],
])("a switch takes %j", (line, isOn) => {
  expect(entryFrom({ kind: "switch" }, line)).toEqual({ entry: { kind: "switched", isOn } });
});

test.each(["", "yes please", "1", "ye"])("a switch does not take %j", (line) => {
  expect(entryFrom({ kind: "switch" }, line)).toEqual({ problem: "must be yes or no" });
});

test.each<FieldInput>([{ kind: "text" }, { kind: "number", isInteger: true }, { kind: "json", schema: {}, root: {} }])(
  "a field of the kind $kind takes the line as it is",
  (input) => {
    expect(entryFrom(input, " 1 ")).toMatchObject({ entry: { kind: "typed", editor: { text: " 1 " } } });
  },
);

/** The title of each choice is also the value of another one, and the beginning of a third one. */
const alike = [
  choice("Beta", "alpha"),
  choice("x", "Beta"),
  choice("ALPHA", "beta"),
  choice(7, "alphabet"),
  choice("Seven", "zeta"),
];

test.each<[line: string, at: number]>([
  ["alpha", 0],
  ["Beta", 1],
  ["beta", 2],
  ["ALPHA", 2],
  ["Alpha", 0],
  [" ALPHABET ", 3],
  ["7", 3],
  ["seven", 4],
  ["ze", 4],
])("%j is the choice whose title or value fits best", (line, at) => {
  expect(chosen(alike, line)).toEqual({ entry: { kind: "chosen", at } });
});

test("of choices with the same title, the first one is meant if they have the same value, otherwise none", () => {
  const same = [choice("o", "other"), choice({ a: 1 }, "x"), choice({ a: 1 }, "x")];
  expect(chosen(same, "x")).toEqual({ entry: { kind: "chosen", at: 1 } });
  const different = [choice(1, "x"), choice(2, "x"), choice(1, "x")];
  expect(chosen(different, "x")).toEqual({ problem: "is ambiguous: x, x, x" });
});

test("a line that fits no choice gets the list of all, one that fits several gets these, and at most 30 are listed", () => {
  expect(chosen(alike, "gamma")).toEqual({ problem: "must be one of: alpha, Beta, beta, alphabet, zeta" });
  expect(chosen(alike, "BET")).toEqual({ problem: "is ambiguous: Beta, beta" });
  expect(chosen([choice(1, "one")], "")).toEqual({ problem: "must be one of: one" });
  const many = (count: number): readonly Choice[] => Array.from({ length: count }, (_, at) => choice(at, `t${at}`));
  const thirty = many(30).map(({ title }) => title);
  expect(chosen(many(30), "x")).toEqual({ problem: `must be one of: ${thirty.join(", ")}` });
  expect(chosen(many(32), "x")).toEqual({ problem: `must be one of: ${thirty.join(", ")}, and 2 more` });
});

test("several choices are read one by one, and the first one that is unknown is the problem", () => {
  const letters = ["a", "b", "a, b", "long"].map((letter) => choice(letter, letter));
  const entry = (...at: readonly number[]) => ({
    entry: { kind: "several", chosen: new Set(at), at: 0, isTouched: true },
  });
  expect(several(letters, "b,a,, b ,")).toEqual(entry(1, 0));
  expect(several(letters, " a, b ")).toEqual(entry(2));
  expect(several(letters, "b, lo")).toEqual(entry(1, 3));
  expect(several(letters, " , ")).toEqual(entry());
  expect(several(letters, "a, y, z")).toEqual({ problem: "must be one of: a, b, a, b, long" });
});
