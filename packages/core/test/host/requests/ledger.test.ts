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
