import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { explainUnknown, statusOf, toCallFailure, toHostError } from "../../src/turn/failure-messages.ts";

const named = (name: string, server?: string, serverToolName?: string) => ({
  name,
  ...(server !== undefined && { server }),
  ...(serverToolName !== undefined && { serverToolName }),
});
const known = [named("send_mail_2", "mail", "send"), named("find"), named("fetch"), named("fond"), named("fund")];

test.each(["send", "mail.send", "mail__send", "mail_send", "mail/send", "mail:send"])(
  "a model that calls a tool %s, by the server's own name for it, is told the name to use",
  (wanted) => {
    expect(explainUnknown(wanted, undefined, known)).toMatch(
      new RegExp(`^there is no tool "${wanted}"; similar: send_mail_2`),
    );
  },
);

test("an unknown name has at most three similar names, each once", () => {
  expect(explainUnknown("fnd", undefined, known).split("; similar: ")[1]?.split(", ").toSorted()).toEqual([
    "find",
    "fond",
    "fund",
  ]);
  expect(explainUnknown("find", undefined, [named("find", "s", "find")])).toBe(
    'there is no tool "find"; similar: find',
  );
});

test("a name that resembles none has no suggestion, and a known cause is named", () => {
  expect(explainUnknown("qqqqqqqq", undefined, known)).toBe('there is no tool "qqqqqqqq"');
  expect(explainUnknown("qqqqqqqq", "its schema is invalid", known)).toBe(
    '"qqqqqqqq" cannot be called: its schema is invalid',
  );
});

test.each([
  ["denied", "denied"],
  ["changed", "denied"],
  ["awaiting_approval", "denied"],
  ["untrusted_folder", "denied"],
  ["cancelled", "cancelled"],
  ["lost", "error"],
] as const)("a call that fails with %s ends as %s", (code, status) => {
  expect(statusOf(new HostError(code, "x"))).toBe(status);
});

test("the user is shown the code, the message and the next step", () => {
  expect(toCallFailure(new HostError("lost", "x", { next: "try again" }))).toEqual({
    code: "lost",
    message: "x",
    next: "try again",
  });
  expect(toCallFailure(new HostError("lost", "x"))).toEqual({ code: "lost", message: "x" });
});

test("an unexpected error is an internal error of the host with its cause", () => {
  const cause = new TypeError("boom");
  expect(toHostError(cause)).toMatchObject({ code: "internal", message: "internal error of the host: boom", cause });
  const own = new HostError("denied", "x");
  expect(toHostError(own)).toBe(own);
});
