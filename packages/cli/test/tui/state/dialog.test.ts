import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { type DialogState, type DialogStep, dialogKey, dialogRoom, openDialog } from "../../../src/tui/state/dialog.ts";
import { type Asked, refusals, type UserQuestion } from "../../../src/tui/state/questions.ts";
import { dialogLines } from "../../../src/tui/view/dialogs/dialog-frame.ts";
import { confirmation, questionsOf } from "../../support/tui/samples.ts";

const room = dialogRoom({ columns: 60, rows: 20 });
const letter = (text: string): Key => ({ name: "text", text });
const enter: Key = { name: "enter" };
const esc: Key = { name: "escape" };

const asked = (question: Asked): UserQuestion => ({ ...question, key: "q" });
const url = asked({ kind: "url", serverName: "s", message: "m", url: "https://a.example/x", purpose: "elicitation" });
const sampling = asked({ kind: "sampling", serverName: "s", model: "m", params: {} });
const trust = asked({ kind: "trust", root: "/w", servers: [], approved: [] });
const signIn = asked({ kind: "sign_in", serverName: "s", messages: [], canPaste: true });
const deviceCode = asked({ kind: "sign_in", serverName: "s", messages: [], canPaste: false });
const clientId = asked({
  kind: "client_id",
  serverName: "s",
  issuer: "https://i.example",
  redirectUri: "http://127.0.0.1",
});
const choice = asked({ kind: "choice", serverName: "s", message: "m", options: ["a", "b"] });

/** What the last key comes to; those before it must not be answers. */
function press(question: UserQuestion, ...keys: readonly Key[]): DialogStep {
  let step: DialogStep = { dialog: openDialog(question) };
  for (const key of keys) {
    if ("answer" in step) throw new Error(`answered before ${JSON.stringify(key)}`);
    step = dialogKey(question, step.dialog, key, room);
  }
  return step;
}

function dialogOf(step: DialogStep): DialogState {
  if ("answer" in step) throw new Error("answered");
  return step.dialog;
}

test.each([
  ["a page", url, [letter("y")], "open"],
  ["a page", url, [letter("h")], "by_hand"],
  ["a page", url, [letter("n")], "decline"],
  ["a page", url, [enter], "decline"],
  ["a page", url, [esc], "cancel"],
  ["a model", sampling, [letter("y")], true],
  ["a model", sampling, [enter], false],
  ["a folder", trust, [letter("Y")], true],
  ["a folder", trust, [esc], false],
  ["a sign-in", signIn, [{ name: "paste", text: " http://127.0.0.1/?code=1\n" }, enter], "http://127.0.0.1/?code=1"],
  ["a sign-in", signIn, [esc], undefined],
  ["a device code", deviceCode, [letter("x"), letter("n")], undefined],
  ["a device code", deviceCode, [esc], undefined],
  ["a client ID", clientId, [letter("abc"), enter], "abc"],
  ["a client ID", clientId, [letter("abc"), esc], ""],
  ["a choice", choice, [{ name: "down" }, { name: "down" }, enter], 1],
  ["a choice", choice, [enter], 0],
  ["a confirmation", confirmation(), [letter("b"), letter("not now "), enter], { because: "not now" }],
  ["a confirmation", confirmation(), [letter("b"), enter], "no"],
  ["a confirmation", confirmation(), [letter("b"), letter("y"), esc, letter("y")], "once"],
  ["a confirmation", confirmation({ canEdit: true }), [letter("e")], "edit"],
  ["a choice", choice, [{ name: "down" }, esc], undefined],
] as const)("%s is answered by its keys", (_, question, keys, value) =>
  expect(press(question, ...keys)).toEqual({ answer: { kind: question.kind, value } }),
);

describe("what is no answer", () => {
  test.each([
    ["words where one letter is asked for", url, letter("yes")],
    ["a letter with Ctrl", url, { name: "text", text: "y", ctrl: true } as const],
    ["a paste", trust, { name: "paste", text: "y" } as const],
    ["Enter before anything was pasted", signIn, enter],
    ["Enter while a device code is shown", deviceCode, enter],
    ["a letter in a choice", choice, letter("a")],
  ])("%s", (_, question, key) => expect(press(question, key)).toHaveProperty("dialog"));
});

test("to press Enter first is never a yes; in a list it takes the first entry", () => {
  for (const question of questionsOf("x").filter(({ kind }) => kind !== "choice")) {
    const step = press(question, enter);
    if ("answer" in step && question.kind !== "url") expect(step.answer).toEqual(refusals[question.kind]);
    if ("answer" in step && question.kind === "url") expect(step.answer.value).toBe("decline");
  }
});

test("one cannot scroll beyond the end", () => {
  const question = confirmation({ args: { rows: Array.from({ length: 30 }, (_, at) => at) } });
  const downs = Array.from({ length: 100 }, (): Key => ({ name: "down" }));
  const end = dialogOf(press(question, ...downs));
  const before = dialogOf(dialogKey(question, end, { name: "up" }, room));
  expect([end, before].map((dialog) => dialog.kind === "read" && dialog.scroll)).toEqual([33, 32]);
});

test("the field that one is at is in sight, and one can look around from there", () => {
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`field${at}`, { type: "string" }]));
  const question = asked({
    kind: "form",
    serverName: "s",
    message: "m",
    schema: { type: "object", properties },
    purpose: "elicitation",
  });
  const shown = (dialog: DialogState): string =>
    dialogLines(question, dialog, { index: 1, total: 1 }, room)
      .map((line) => line.map(({ text }) => text).join(""))
      .join("\n");
  const at = dialogOf(press(question, ...Array.from({ length: 12 }, (): Key => ({ name: "down" }))));
  expect(shown(at)).toContain("› field12");
  const away = Array.from({ length: 20 }).reduce<DialogState>(
    (dialog) => dialogOf(dialogKey(question, dialog, { name: "pageup" }, room)),
    at,
  );
  expect(shown(away)).toContain("field0");
  expect(shown(away)).not.toContain("field12");
  expect(shown(dialogOf(dialogKey(question, away, letter("x"), room)))).toContain("› field12");
  // As far as there is something to see, and no further: one step back is seen.
  expect(shown(dialogOf(dialogKey(question, away, { name: "pagedown" }, room)))).not.toBe(shown(away));
});
