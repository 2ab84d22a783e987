import { expect, test } from "vitest";
import { withTimeLeft } from "../../src/eras/input-rounds.ts";
import { WireError, type WireEvidence } from "../../src/errors.ts";
import {
  afterSending,
  cancelledError,
  closedError,
  neverSent,
  replyError,
  timeoutError,
  tooLargeError,
  toWireError,
  withStep,
} from "../../src/rpc/rpc-errors.ts";

/** All of an error that a caller sees. */
const seen = ({ code, message, evidence, cause }: WireError) => ({ code, message, evidence, cause });
const step = "tools/call";
const exited = new WireError("exited", "the server exited", { exitCode: 1 });

test.each<[unknown, string, WireEvidence["rpc"]]>([
  [{ code: -32000, message: "no", data: [1] }, "no", { code: -32000, data: [1] }],
  [{ code: -1, message: "no", data: null }, "no", { code: -1, data: null }],
  [{ code: "-32601", message: "no" }, "no", { code: -32601 }],
  [{ code: "x", message: "no" }, "no", { code: 0 }],
  [{ code: {}, message: "no" }, "no", { code: 0 }],
  [{ code: 1, message: 7 }, "tools/call failed: the server gave no reason", { code: 1 }],
  ["no", "no", { code: 0 }],
  [7, "tools/call failed: the server gave no reason", { code: 0 }],
  [{ code: 1, message: "x".repeat(2000) }, `${"x".repeat(999)}…`, { code: 1 }],
])("the error response %j is an error with the server's message and code", (error, message, rpc) => {
  expect(seen(replyError(error, step))).toEqual({ code: "rpc", message, evidence: { rpc, step }, cause: undefined });
});

test.each<[number | undefined, string]>([
  [undefined, "the total time limit is reached"],
  [0, "no response or progress for 0 ms"],
  [999, "no response or progress for 999 ms"],
  [1000, "no response or progress for 1 s"],
  [1250, "no response or progress for 1.3 s"],
  [60_000, "no response or progress for 60 s"],
])("a timeout after the silence %j says: %s", (silence, why) => {
  expect(seen(timeoutError(step, silence))).toEqual({
    code: "timeout",
    message: `tools/call timed out: ${why}`,
    evidence: { step },
    cause: undefined,
  });
});

test("a cancelled request says whether it was sent", () => {
  const cancelled = { code: "cancelled", message: "tools/call was cancelled", cause: "enough" };
  expect(seen(cancelledError(step, "enough", true))).toEqual({ ...cancelled, evidence: { step, unsent: true } });
  expect(seen(cancelledError(step, "enough", false))).toEqual({ ...cancelled, evidence: { step } });
});

test("a request during and after the end of the connection fails with the reason of the end", () => {
  expect(seen(closedError(step, undefined))).toEqual({
    code: "closed",
    message: "the connection was closed during tools/call",
    evidence: { step },
    cause: undefined,
  });
  expect(seen(closedError(step, exited))).toEqual({
    code: "exited",
    message: "the server exited",
    evidence: { exitCode: 1, step },
    cause: exited,
  });
  const unsent = { code: "closed", evidence: { step, unsent: true } };
  expect(seen(neverSent(step, undefined))).toEqual({
    ...unsent,
    message: "the connection is closed",
    cause: undefined,
  });
  expect(seen(neverSent(step, exited))).toEqual({
    ...unsent,
    message: "the connection is lost: the server exited",
    cause: exited,
  });
});

test("a response that is too large names the limit, or why it was not read", () => {
  expect(seen(tooLargeError(step, 100))).toEqual({
    code: "too_large",
    message: "the response to tools/call is larger than 100 bytes",
    evidence: { step },
    cause: undefined,
  });
  expect(tooLargeError(step, 100, exited)).toMatchObject({ code: "exited", evidence: { exitCode: 1, step } });
});

test("an error gets a step, unless it has one; after sending, it is not unsent", () => {
  const stepped = new WireError("proxy", "no", { step: "probe", unsent: true });
  expect(withStep(stepped, step)).toBe(stepped);
  expect(seen(withStep(exited, step))).toEqual({ ...seen(exited), evidence: { exitCode: 1, step }, cause: exited });
  expect(seen(afterSending(stepped, step))).toEqual({
    code: "proxy",
    message: "no",
    evidence: { step: "probe" },
    cause: stepped,
  });
  expect(afterSending(exited, step).evidence).toEqual({ step, exitCode: 1 });
});

test("any other thrown value is an unreachable server", () => {
  const thrown = new Error("ECONNRESET");
  expect(toWireError(exited)).toBe(exited);
  expect(seen(toWireError(thrown))).toEqual({
    code: "unreachable",
    message: "ECONNRESET",
    evidence: {},
    cause: thrown,
  });
  expect(toWireError("words").message).toBe("words");
});

test("requests that share a time limit get what is left of it, and fail without any", () => {
  const options = { timeout: 5, total: 100 };
  const unlimited = { timeout: 5 };
  expect(withTimeLeft(unlimited, 1000, step)).toBe(unlimited);
  expect(withTimeLeft(options, 30, step)).toEqual({ timeout: 5, total: 70 });
  expect(withTimeLeft(options, 99, step)).toEqual({ timeout: 5, total: 1 });
  for (const spent of [100, 101])
    expect(() => withTimeLeft(options, spent, step)).toThrow("tools/call timed out: the total time limit is reached");
});
