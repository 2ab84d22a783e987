import { ToolConfirmationOutcome as Outcome } from "@fairlead/core/registry/confirmation";
import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { confirmationKey, offeredKeys } from "../../../src/tui/state/confirmation-keys.ts";

const all = Object.values(Outcome);
const extent = { rows: 30, page: 10 };
const letter = (text: string): Key => ({ name: "text", text });
const press = (key: Key, outcomes = all, scroll = 0): unknown => confirmationKey({ scroll }, key, { outcomes, extent });

test.each([
  ["y", Outcome.ProceedOnce],
  ["t", Outcome.ProceedAlwaysTool],
  ["s", Outcome.ProceedAlwaysServer],
  ["a", Outcome.ProceedAlwaysAndSave],
  ["n", Outcome.Cancel],
  ["Y", Outcome.ProceedOnce],
])("%s answers %s", (text, answer) => expect(press(letter(text))).toEqual({ answer }));

test.each([{ name: "enter" }, { name: "escape" }] as const)("$name is no", (key) =>
  expect(press(key)).toEqual({ answer: Outcome.Cancel }),
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
    { name: "unknown" },
  ];
  test.each(keys)("%o", (key) => expect(press(key)).toEqual({ state: { scroll: 0 } }));
});

test("an answer that could not take effect has no key; no always has one", () => {
  const once = [Outcome.ProceedOnce];
  expect(press(letter("t"), once)).toEqual({ state: { scroll: 0 } });
  expect(press(letter("s"), once)).toEqual({ state: { scroll: 0 } });
  expect(press(letter("a"), once)).toEqual({ state: { scroll: 0 } });
  expect(press(letter("n"), [])).toEqual({ answer: Outcome.Cancel });
  expect(press(letter("y"), [])).toEqual({ state: { scroll: 0 } });
});

test.each([
  ["down", 0, 1],
  ["down", 20, 20],
  ["up", 0, 0],
  ["up", 500, 19],
  ["pagedown", 0, 9],
  ["pagedown", 15, 20],
  ["pageup", 20, 11],
  ["home", 7, 0],
  ["end", 7, 20],
] as const)("%s at row %i shows row %i first", (name, scroll, next) =>
  expect(press({ name }, all, scroll)).toEqual({ state: { scroll: next } }),
);

test("every key has a label, and a short one for a narrow screen", () => {
  expect(offeredKeys(all)).toEqual([
    { letter: "y", words: "yes, once", short: "once", outcome: Outcome.ProceedOnce },
    { letter: "t", words: "always this tool", short: "tool", outcome: Outcome.ProceedAlwaysTool },
    { letter: "s", words: "always this server", short: "server", outcome: Outcome.ProceedAlwaysServer },
    { letter: "a", words: "always, and save", short: "save", outcome: Outcome.ProceedAlwaysAndSave },
    { letter: "n", words: "no (also Enter, Esc)", short: "no", outcome: Outcome.Cancel },
  ]);
  expect(offeredKeys([Outcome.ProceedAlwaysServer, Outcome.ProceedOnce]).map(({ letter }) => letter)).toEqual([
    "y",
    "s",
    "n",
  ]);
});
