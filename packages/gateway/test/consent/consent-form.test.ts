import { expect, test } from "vitest";
import type { ConsentQuestion } from "../../src/consent/confirmed-request.ts";
import { onThePage, outdatedText, pageOutcome } from "../../src/consent/consent.ts";
import { answerIn, formFor, messageFor } from "../../src/consent/consent-form.ts";

const question: ConsentQuestion = {
  who: "client",
  client: "codex",
  server: "files",
  kind: "tool",
  name: "write_file",
  args: { path: "a.txt" },
  reason: "rule 1",
  answers: ["no", "once", "conversation", "always"],
  key: "0".repeat(64),
  digest: "d1",
};

test("the form offers the answers except always, and no is chosen at first", () => {
  expect(formFor(question)).toEqual({
    message: 'Fairlead asks: may codex run files.write_file?\nArguments: {"path":"a.txt"} (sha256 d1)\nReason: rule 1',
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Run it?",
          enum: ["no", "once", "this conversation"],
          enumNames: ["no", "yes, once", "this tool, until the program disconnects"],
          default: "no",
        },
      },
      required: ["decision"],
    },
  });
  expect(formFor({ ...question, answers: ["no", "once"] })).toMatchObject({
    requestedSchema: { properties: { decision: { enum: ["no", "once"], enumNames: ["no", "yes, once"] } } },
  });
});

test.each([
  ["accept", "once", "once"],
  ["accept", "this conversation", "conversation"],
  ["accept", "no", "no"],
  ["decline", "once", "no"],
  ["decline", undefined, "no"],
  ["accept", "conversation", undefined],
  ["accept", "always", undefined],
  ["accept", undefined, undefined],
  ["cancel", "this conversation", undefined],
  ["Decline", "once", undefined],
  [undefined, "once", undefined],
])("the action %s with the decision %s is the answer %s", (action, decision, answer) => {
  expect(answerIn({ action, content: { decision } }, question)).toBe(answer);
});

test("a decision that is not offered, or no content at all, is no answer", () => {
  const decision = "this conversation";
  const answers = ["no", "once"] as const;
  expect(answerIn({ action: "accept", content: { decision } }, { ...question, answers })).toBe(undefined);
  expect(answerIn({ action: "accept" }, question)).toBe(undefined);
});

test("the text has the folder, the change and what a yes for a resource covers", () => {
  const change = [{ member: "a", before: "1", after: "2" }, { member: "b" }];
  const { reason: _, ...rest } = question;
  const lines = messageFor({
    ...rest,
    reason: "",
    kind: "resource",
    name: "file:///a",
    folder: "/work",
    hints: "destructive",
    flags: 'secret-file in description: "~/.ssh"\nhidden-markup in description: "<!-- x -->"',
    change,
  });
  expect(lines.split("\n")).toEqual([
    "Fairlead asks: may codex read the resource file:///a of files?",
    'Arguments: {"path":"a.txt"} (sha256 d1)',
    "Folder: /work",
    'The definition has changed: a: "1" → "2"; b: "" → ""',
    "Hints: destructive",
    'Flag: secret-file in description: "~/.ssh"',
    'Flag: hidden-markup in description: "<!-- x -->"',
    'The answer "this conversation" allows all resources of files.',
  ]);
  expect(messageFor({ ...question, kind: "resource", answers: ["no", "once"] })).not.toContain("allows all resources");
});

test("long texts are cut to 1000 characters, and only longer ones", () => {
  // The braces, the quotes and the name take 8 characters.
  const argumentsOf = (length: number) =>
    messageFor({
      ...question,
      args: { a: "x".repeat(length - 8) },
      folder: "f".repeat(1001),
      reason: "r".repeat(1001),
    });
  const more = `Folder: ${"f".repeat(1000)}\nReason: ${"r".repeat(1000)}`;
  const start = "Fairlead asks: may codex run files.write_file?\nArguments: ";
  expect(argumentsOf(1000)).toBe(`${start}{"a":"${"x".repeat(992)}"} (sha256 d1)\n${more}`);
  expect(argumentsOf(1001)).toBe(`${start}{"a":"${"x".repeat(993)}"… (1001 characters, sha256 d1)\n${more}`);
});

test("a long change is cut to 1000 characters, and only a longer one", () => {
  const changed = (length: number): string | undefined =>
    messageFor({ ...question, change: [{ member: "m", before: "x".repeat(length - 10) }] }).split("\n")[2];
  const start = 'The definition has changed: m: "';
  expect(changed(1000)).toBe(`${start}${"x".repeat(990)}" → ""`);
  expect(changed(1001)).toBe(`${start}${"x".repeat(991)}" → "…`);
});

const awaited = { isFirst: true, isAwaited: true } as const;
const late = { isFirst: true, isAwaited: false, at: 0 } as const;

test.each([
  [undefined, "once", "This question has expired: the program no longer waits for an answer. Nothing was run."],
  [{ answer: "once", by: onThePage, at: 0, ...awaited }, "once", "Your answer: yes, once. You can close this page."],
  [{ answer: "no", by: onThePage, at: 0, ...awaited }, "no", "Your answer: no. You can close this page."],
  [
    { answer: "conversation", by: onThePage, at: 0, ...awaited },
    "conversation",
    "Your answer: this tool, until the program disconnects. You can close this page.",
  ],
  [
    { answer: "always", by: onThePage, at: 0, ...awaited },
    "always",
    "Your answer: this tool, always for this program (saves an approval). You can close this page.",
  ],
  [
    { answer: "no", by: onThePage, at: 0, ...awaited },
    "once",
    "This question already has an answer, from the page: no.",
  ],
  [
    { answer: "once", by: "the app", at: 0, ...awaited },
    "once",
    "This question already has an answer, from the app: yes, once.",
  ],
  [
    { answer: "once", by: onThePage, ...late },
    "always",
    "Your answer: yes, once. The program no longer waits for it, so nothing was run. If the program sends exactly this request again within ten minutes, it runs.",
  ],
  [
    { answer: "no", by: onThePage, ...late },
    "no",
    "Your answer: no. The program no longer waits for it, so nothing was run. If the program sends exactly this request again within ten minutes, it is refused.",
  ],
] as const)("after the answer %j, a person who answers %s reads: %s", (first, answer, text) => {
  expect(pageOutcome(question, first, answer).text).toBe(text);
});

test("a person whose yes is about an earlier definition reads what to do", () => {
  expect(outdatedText(question)).toBe(
    "The definition of files.write_file changed while this question was open. Nothing was run, and your answer has no effect. Ask the program to try again: Fairlead then shows you the change and asks again.",
  );
});
