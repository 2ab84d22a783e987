import { ToolConfirmationOutcome as Outcome } from "@fairlead/core/policy/confirmation";
import type { Requester } from "@fairlead/core/policy/decide";
import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { confirmationAnswer, offeredKeys } from "../../../src/tui/state/confirmation-keys.ts";
import { confirmation } from "../../support/tui/samples.ts";

const all = Object.values(Outcome);
const letter = (text: string): Key => ({ name: "text", text });
const question = (outcomes = all, who: Requester = "model", canEdit = true) =>
  confirmation({ outcomes, canEdit }, { who }).view;
const press = (key: Key, outcomes = all): unknown => confirmationAnswer(question(outcomes), key);

test.each([
  ["y", "once"],
  ["t", "conversation"],
  ["s", "server"],
  ["a", "always"],
  ["e", "edit"],
  ["n", "no"],
  ["b", "because"],
  ["Y", "once"],
])("%s answers %s", (text, answer) => expect(press(letter(text))).toBe(answer));

test.each([{ name: "enter" }, { name: "escape" }] as const)("$name is no", (key) => expect(press(key)).toBe("no"));

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
  expect(press(letter("n"), [])).toBe("no");
  expect(press(letter("y"), [])).toBeUndefined();
});

const letters = (asker: Requester, canEdit: boolean): string =>
  offeredKeys(question(all, asker, canEdit))
    .map((each) => each.letter)
    .join("");

test.each<[asker: Requester, canEdit: boolean, letters: string]>([
  ["model", true, "ytsaenb"],
  ["model", false, "ytsanb"],
  ["user", true, "ytsan"],
  ["client", true, "ytanb"],
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

test("a yes for more than one resource covers all resources of the server, and has the key of the server", () => {
  const { view } = confirmation({ kind: "resource", outcomes: [Outcome.ProceedOnce, Outcome.ProceedAlwaysServer] });
  expect(offeredKeys(view).map(({ letter: key, words, short }) => [key, words, short])).toEqual([
    ["y", "yes, once", "once"],
    ["s", "all resources of the server, until the conversation ends", "resources, conversation"],
    ["n", "no (also Enter, Esc)", "no"],
    ["b", "no, because …", "no, because"],
  ]);
});

test("the keys of a skill name the skill", () => {
  const outcomes = [Outcome.ProceedOnce, Outcome.ProceedAlwaysTool, Outcome.ProceedAlwaysAndSave];
  const { view } = confirmation({ kind: "skill", outcomes });
  expect(offeredKeys(view).map(({ letter: key, words, short }) => [key, words, short])).toEqual([
    ["y", "yes, once", "once"],
    ["t", "this skill, until the conversation ends", "skill, conversation"],
    ["a", "this skill, always (saves an approval)", "skill, saved"],
    ["n", "no (also Enter, Esc)", "no"],
    ["b", "no, because …", "no, because"],
  ]);
});
