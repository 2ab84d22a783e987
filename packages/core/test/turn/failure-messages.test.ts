import { expect, test } from "vitest";
import { type ErrorCode, HostError } from "../../src/errors.ts";
import { explainUnknown, statusOf, tellFailure, toCallFailure, toHostError } from "../../src/turn/failure-messages.ts";
import { sampleTool } from "../support/sample-tools.ts";

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

test.each<[ErrorCode, string]>([
  ["denied", "The call was not allowed and did not run."],
  ["awaiting_approval", "The call was not allowed and did not run."],
  ["untrusted_folder", "The call was not allowed and did not run."],
  ["changed", "The call did not run: the definition of the tool, or the files of the skill, have changed."],
  ["arguments_invalid", "The call did not run: its arguments are invalid."],
  ["call_timeout", "There was no answer in time: the call may or may not have had its effect."],
  ["lost", "The connection was lost before the server answered: the call may or may not have had its effect."],
  ["tool_error", "The call failed."],
])("the model is told about %s in a sentence of the host, and the reason is marked as untrusted", (code, sentence) => {
  const told = tellFailure(new HostError(code, "why"));
  expect(told.split("\n")[0]).toBe(sentence);
  expect(told).toContain(`${code}: why`);
  expect(told).toMatch(/<untrusted_context_\w+>[\s\S]*: why[\s\S]*<\/untrusted_context_\w+>/);
  expect(told).not.toContain("parameters of");
});

test("only a model with wrong arguments is told the tool's parameters, after the reason", () => {
  const tool = sampleTool("s", "t", {
    parameterSchemaJson: { type: "object", properties: { a: { type: "string" } } },
  });
  const told = tellFailure(new HostError("arguments_invalid", "why"), tool);
  expect(told).toMatch(
    /arguments_invalid: why[\s\S]*parameters of t: \{"type":"object","properties":\{"a":\{"type":"string"\}\}\}/,
  );
  expect(tellFailure(new HostError("denied", "why"), tool)).not.toContain("parameters of");
  const properties = Object.fromEntries(
    Array.from({ length: 1000 }, (_, at) => [`a_rather_long_name_${at}`, { type: "string" }]),
  );
  const large = sampleTool("s", "t", { parameterSchemaJson: { type: "object", properties } });
  const short = tellFailure(new HostError("arguments_invalid", "why"), large);
  expect(short).toContain("parameters of t: ");
  expect(short).not.toContain('"type":"object"');
});
