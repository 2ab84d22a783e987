import type { ConfirmationChoice } from "@fairlead/core/policy/confirmation-view";
import { describe, expect, test } from "vitest";
import { emptyEditor, insert } from "../../../src/tui/input/editor.ts";
import type { Key } from "../../../src/tui/input/keys.ts";
import { type DialogState, dialogKey, dialogRoom, openDialog, takesText } from "../../../src/tui/state/dialog.ts";
import { openForm } from "../../../src/tui/state/form.ts";
import type { Asked, UserQuestion } from "../../../src/tui/state/questions.ts";
import { confirmation } from "../../support/tui/samples.ts";

const room = { width: 60, height: 8 };
const letter = (text: string): Key => ({ name: "text", text });
const asked = (question: Asked): UserQuestion => ({ ...question, key: "q" });
const url = asked({ kind: "url", serverName: "s", message: "m\n".repeat(30), url: "https://a/", purpose: "sign_in" });
const sampling = asked({ kind: "sampling", serverName: "s", model: "m", params: {} });
const trust = asked({ kind: "trust", root: "/w", servers: [], approved: [] });
const signIn = (canPaste: boolean): UserQuestion =>
  asked({
    kind: "sign_in",
    serverName: "s",
    messages: Array.from({ length: 20 }, () => ({ kind: "paste_unusable", reason: "no code" }) as const),
    canPaste,
  });
const clientId = asked({ kind: "client_id", serverName: "s", issuer: "i".repeat(900), redirectUri: "r" });
const choice = asked({ kind: "choice", serverName: "s", message: "m", options: ["a", "b", "c"] });
const schema = { type: "object", properties: { a: { type: "string" } } };
const form = asked({ kind: "form", serverName: "s", message: "", schema, purpose: "elicitation", values: { a: "x" } });

test("a dialog opens at its beginning, and one with a text field at its end", () => {
  const end = Number.POSITIVE_INFINITY;
  const questions = [confirmation(), url, sampling, trust, form, signIn(true), signIn(false), clientId, choice];
  expect(questions.map(openDialog)).toStrictEqual([
    { key: "q", kind: "read", scroll: 0 },
    { key: "q", kind: "read", scroll: 0 },
    { key: "q", kind: "read", scroll: 0 },
    { key: "q", kind: "read", scroll: 0 },
    { key: "q", kind: "form", form: openForm(schema, { a: "x" }) },
    { key: "q", kind: "typed", editor: emptyEditor, scroll: end },
    { key: "q", kind: "read", scroll: 0 },
    { key: "q", kind: "typed", editor: emptyEditor, scroll: end },
    { key: "q", kind: "chosen", at: 0 },
  ]);
  expect(questions.map((each) => takesText(openDialog(each)))).toEqual([
    false,
    false,
    false,
    false,
    true,
    true,
    false,
    true,
    false,
  ]);
});

test.each([
  [80, 24, 80, 16],
  [19, 12, 20, 5],
  [20, 13, 20, 5],
  [21, 14, 21, 6],
  [1, 1, 20, 5],
])("on a screen of %d columns and %d rows, a dialog has %d columns and %d rows", (columns, rows, width, height) => {
  expect(dialogRoom({ columns, rows })).toEqual({ width, height });
});

test.each<[letter: string, value: ConfirmationChoice]>([
  ["y", "once"],
  ["n", "no"],
  ["a", "always"],
])("the letter %s answers a confirmation with %s", (text, value) => {
  const question = confirmation();
  expect(dialogKey(question, openDialog(question), letter(text), room)).toStrictEqual({
    answer: { kind: "confirmation", value },
  });
});

describe("a dialog that the user only reads", () => {
  const at = (scroll: number): DialogState => ({ key: "q", kind: "read", scroll });

  test.each<[string, UserQuestion, Key, scroll: number]>([
    ["a page to open", url, { name: "down" }, 4],
    ["a page to open", url, { name: "up" }, 2],
    ["a page to open", url, letter("x"), 3],
    ["a page to open", url, { name: "tab" }, 3],
    ["a page to open", url, { name: "text", text: "y", ctrl: true }, 3],
    ["a page to open", url, { name: "text", text: "y", meta: true }, 3],
    ["a page to open", url, { name: "home" }, 0],
    ["a confirmation", confirmation(), { name: "down" }, 4],
    ["a confirmation", confirmation(), letter("x"), 3],
    ["a device code", signIn(false), { name: "up" }, 2],
    ["a device code", signIn(false), letter("y"), 3],
    ["a device code", signIn(false), { name: "enter" }, 3],
  ])("%s: a key changes the first row only if it scrolls (%#)", (_, question, key, scroll) => {
    expect(dialogKey(question, at(3), key, room)).toStrictEqual({ dialog: at(scroll) });
  });

  test.each<[string, UserQuestion, Key]>([
    ["a use of the model", sampling, letter("x")],
    ["a use of the model", sampling, { name: "text", text: "y", ctrl: true }],
    ["a folder", trust, { name: "text", text: "y", meta: true }],
    ["a folder", trust, { name: "text", text: "n", ctrl: true }],
    ["a folder", trust, { name: "tab" }],
  ])("%s: a letter with Ctrl or Alt, or another key, is no answer (%#)", (_, question, key) => {
    expect(dialogKey(question, at(0), key, room)).toStrictEqual({ dialog: at(0) });
  });

  test.each<[string, UserQuestion, Key, answer: unknown]>([
    ["a use of the model", sampling, letter("n"), { kind: "sampling", value: false }],
    ["a use of the model", sampling, letter("N"), { kind: "sampling", value: false }],
    ["a use of the model", sampling, letter("Y"), { kind: "sampling", value: true }],
    ["a use of the model", sampling, { name: "escape" }, { kind: "sampling", value: false }],
    ["a folder", trust, letter("y"), { kind: "trust", value: true }],
    ["a folder", trust, letter("n"), { kind: "trust", value: false }],
    ["a folder", trust, { name: "enter" }, { kind: "trust", value: false }],
    ["a page to open", url, letter("H"), { kind: "url", value: "by_hand" }],
    ["a device code", signIn(false), letter("N"), { kind: "sign_in", value: undefined }],
    ["a device code", signIn(false), { name: "escape" }, { kind: "sign_in", value: undefined }],
  ])("%s: its letters, Enter and Escape are answers (%#)", (_, question, key, answer) => {
    expect(dialogKey(question, at(0), key, room)).toStrictEqual({ answer });
  });
});

describe("a dialog with a text field", () => {
  const end = Number.POSITIVE_INFINITY;
  const typed = (text: string, scroll: number): DialogState => ({
    key: "q",
    kind: "typed",
    editor: insert(emptyEditor, text),
    scroll,
  });

  test.each<[string, UserQuestion]>([
    ["a sign-in", signIn(true)],
    ["a client ID", clientId],
  ])("%s: the keys that move scroll, and every other key goes into the field at the end", (_, question) => {
    const scrollAfter = (name: Key["name"], scroll: number): unknown => {
      const step = dialogKey(question, typed("ab", scroll), { name }, room);
      return "dialog" in step && step.dialog.kind === "typed" ? step.dialog.scroll : step;
    };
    expect(scrollAfter("up", 3)).toBe(2);
    expect(scrollAfter("down", 3)).toBe(4);
    expect([scrollAfter("pagedown", 0), scrollAfter("pageup", 9)]).toEqual([4, 5]);
    const last = Number(scrollAfter("down", end));
    expect(scrollAfter("up", end)).toBe(last - 1);
    expect(dialogKey(question, typed("ab", 3), letter("c"), room)).toStrictEqual({ dialog: typed("abc", end) });
    expect(dialogKey(question, typed("ab", 3), { name: "backspace" }, room)).toStrictEqual({ dialog: typed("a", end) });
    expect(dialogKey(question, typed("ab", 3), letter(" "), room)).toStrictEqual({ dialog: typed("ab ", end) });
  });

  test.each<[string, UserQuestion, text: string, name: Key["name"], step: unknown]>([
    ["a sign-in", signIn(true), " a b ", "enter", { answer: { kind: "sign_in", value: "a b" } }],
    ["a sign-in", signIn(true), "  ", "enter", { dialog: typed("  ", 3) }],
    ["a sign-in", signIn(true), "ab", "escape", { answer: { kind: "sign_in", value: undefined } }],
    ["a client ID", clientId, " ab ", "enter", { answer: { kind: "client_id", value: "ab" } }],
    ["a client ID", clientId, "", "enter", { answer: { kind: "client_id", value: "" } }],
    ["a client ID", clientId, "ab", "escape", { answer: { kind: "client_id", value: "" } }],
  ])("%s: Enter and Escape are answers (%#)", (_, question, text, name, step) => {
    expect(dialogKey(question, typed(text, 3), { name }, room)).toStrictEqual(step);
  });
});

describe("a choice", () => {
  const at = (place: number): DialogState => ({ key: "q", kind: "chosen", at: place });

  test.each<[before: number, name: Key["name"], next: number]>([
    [0, "down", 1],
    [2, "down", 2],
    [2, "up", 1],
    [1, "up", 0],
    [0, "up", 0],
    [1, "home", 1],
  ])("%j becomes after the key %s %j", (before, name, next) => {
    expect(dialogKey(choice, at(before), { name }, room)).toStrictEqual({ dialog: at(next) });
  });

  test.each<[Key["name"], number, value: number | undefined]>([
    ["enter", 2, 2],
    ["escape", 2, undefined],
  ])("is answered by the key %s at %j with %j", (name, place, value) => {
    expect(dialogKey(choice, at(place), { name }, room)).toStrictEqual({ answer: { kind: "choice", value } });
  });
});

test("a form is answered by Escape and by its buttons", () => {
  const opened = openForm(schema, { a: "x" });
  const press = (focus: "send" | "decline", name: Key["name"]): unknown =>
    dialogKey(form, { key: "q", kind: "form", form: { ...opened, focus } }, { name }, room);
  expect(press("send", "escape")).toStrictEqual({ answer: { kind: "form", value: { action: "cancel" } } });
  expect(press("decline", "enter")).toStrictEqual({ answer: { kind: "form", value: { action: "decline" } } });
  expect(press("send", "enter")).toStrictEqual({
    answer: { kind: "form", value: { action: "accept", content: { a: "x" } } },
  });
});

test("a form that fits on the screen does not scroll", () => {
  const opened: DialogState = { key: "q", kind: "form", form: openForm(schema) };
  for (const name of ["pagedown", "pageup"] as const)
    expect(dialogKey(form, opened, { name }, { width: 60, height: 30 })).toStrictEqual({ dialog: opened });
});

test.each<[string, UserQuestion, DialogState]>([
  ["a choice", choice, { key: "q", kind: "form", form: openForm(schema) }],
  ["a form", form, { key: "q", kind: "chosen", at: 1 }],
])("%s ignores the keys of a dialog of another kind", (_, question, dialog) => {
  expect(dialogKey(question, dialog, { name: "enter" }, room)).toStrictEqual({ dialog });
});
