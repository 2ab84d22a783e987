import { expect, test } from "vitest";
import { answerOf } from "../../../src/host/requests/ledger.ts";

test.each([
  ["yes", {}],
  ["typed", {}],
  ["no", { refusal: "user" }],
  [undefined, { refusal: "no_terminal" }],
] as const)("a denied request whose question was answered with %s is recorded with %o", (how, recorded) => {
  expect(answerOf({ outcome: "denied", needsConfirmation: true, how })).toEqual(recorded);
});

test.each([
  [{ acceptChanged: true }, "in_advance"],
  [{ acceptChanged: true, how: "yes" }, "asked"],
  [{ acceptChanged: true, how: "typed" }, "typed"],
  [{ confirmed: "in_advance" }, "in_advance"],
  [{ how: "yes" }, "asked"],
] as const)("a request that ran with %o is recorded as %s", (facts, answer) => {
  expect(answerOf({ outcome: "ok", needsConfirmation: true, isAnswered: true, ...facts })).toEqual({ answer });
});

test.each([
  ["denied by a rule", { outcome: "denied", needsConfirmation: false, isAnswered: true, how: "yes" }],
  ["that changed meanwhile", { outcome: "changed", needsConfirmation: true, isAnswered: true, how: "yes" }],
  ["that needs no confirmation", { outcome: "ok", needsConfirmation: false }],
] as const)("a request %s is recorded without an answer", (_, facts) => {
  expect(answerOf(facts)).toEqual({});
});

test("a request that failed after a yes is recorded with it", () => {
  const facts = { outcome: "tool_error", needsConfirmation: true, isAnswered: true } as const;
  expect(answerOf({ ...facts, how: "yes" })).toEqual({ answer: "asked" });
  expect(answerOf({ ...facts, confirmed: true })).toEqual({ answer: "asked" });
});
