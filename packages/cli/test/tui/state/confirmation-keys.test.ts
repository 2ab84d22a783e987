import { ToolConfirmationOutcome as Outcome } from "@fairlead/core/registry/confirmation";
import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { confirmationAnswer, offeredKeys } from "../../../src/tui/state/confirmation-keys.ts";
import type { QuestionOf } from "../../../src/tui/state/questions.ts";
import { confirmation } from "../../support/tui/samples.ts";

type Asker = QuestionOf<"confirmation">["asker"];

const all = Object.values(Outcome);
const letter = (text: string): Key => ({ name: "text", text });
const question = (outcomes = all, asker: Asker = "model", canEdit = true) => ({
  details: confirmation({ outcomes, canEdit }).details,
  asker,
});
const press = (key: Key, outcomes = all): unknown => confirmationAnswer(question(outcomes), key);

test.each([
  ["y", Outcome.ProceedOnce],
  ["t", Outcome.ProceedAlwaysTool],
  ["s", Outcome.ProceedAlwaysServer],
  ["a", Outcome.ProceedAlwaysAndSave],
  ["e", "edit"],
  ["n", Outcome.Cancel],
  ["b", "because"],
  ["Y", Outcome.ProceedOnce],
])("%s answers %s", (text, answer) => expect(press(letter(text))).toBe(answer));

test.each([{ name: "enter" }, { name: "escape" }] as const)("$name is no", (key) =>
  expect(press(key)).toBe(Outcome.Cancel),
);

describe("nothing else is an answer", () => {
  const keys: readonly Key[] = [
    letter("yes"),
    letter("x"),
    letter(""),
    { name: "paste", text: "y" },
    { name: "text", text: "y", ctrl: true },
    { name: "text", text: "y", meta: true },
    { name: "tab" },
    { name: "down" },
    { name: "unknown" },
  ];
  test.each(keys)("%o", (key) => expect(press(key)).toBeUndefined());
});

test("an answer that could not take effect has no key; no always has one", () => {
  const once = [Outcome.ProceedOnce];
  for (const text of ["t", "s", "a"]) expect(press(letter(text), once)).toBeUndefined();
  expect(press(letter("n"), [])).toBe(Outcome.Cancel);
  expect(press(letter("y"), [])).toBeUndefined();
});

const letters = (asker: Asker, canEdit: boolean): string =>
  offeredKeys(question(all, asker, canEdit))
    .map((each) => each.letter)
    .join("");

test.each<[asker: Asker, canEdit: boolean, letters: string]>([
  ["model", true, "ytsaenb"],
  ["model", false, "ytsanb"],
  ["user", true, "ytsan"],
  ["client", true, "ytsanb"],
])("the request of a %s (arguments can be changed: %s) has the keys %s", (asker, canEdit, expected) => {
  expect(letters(asker, canEdit)).toBe(expected);
});

test("every key says how long it lasts and what it saves, shorter on a narrow screen", () => {
  expect(offeredKeys(question()).map(({ words, short }) => [words, short])).toEqual([
    ["yes, once", "once"],
    ["this tool, until the conversation ends", "tool, conversation"],
    ["all tools of the server, until the conversation ends", "server, conversation"],
    ["this tool, always (saves an approval)", "tool, saved"],
    ["edit the arguments", "edit"],
    ["no (also Enter, Esc)", "no"],
    ["no, because …", "no, because"],
  ]);
  const ofClient = offeredKeys(question([Outcome.ProceedAlwaysTool, Outcome.ProceedAlwaysAndSave], "client"));
  expect(ofClient.map(({ words }) => words)).toEqual([
    "this tool, until the program disconnects",
    "this tool, always for this program (saves an approval)",
    "no (also Enter, Esc)",
    "no, because …",
  ]);
});
