import { WireError, type WireErrorCode, type WireEvidence } from "@fairlead/wire";
import { expect, test } from "vitest";
import {
  isServerBusy,
  needsSignIn,
  neverLeft,
  pauseAfter,
  toCallError,
  toServerError,
} from "../../src/connect/outcome.ts";
import { HostError } from "../../src/errors.ts";

const read = { serverName: "my server", what: "s.t", method: "resources/read" };
const call = { ...read, method: "tools/call" };
const doubt = "; the request may or may not have run";

const told = ({ code, message, next, serverName, evidence }: HostError): object => ({
  code,
  message,
  next,
  serverName,
  evidence,
});

test.each<[WireErrorCode, string, string, string | undefined]>([
  ["cancelled", "cancelled", "s.t: words", undefined],
  [
    "timeout",
    "call_timeout",
    "s.t timed out: words",
    'raise "timeout" of "my server" in settings.json, or give the call a longer --timeout',
  ],
  ["spawn_failed", "command_not_found", "s.t: words", undefined],
  ["tls", "tls", "s.t: words", undefined],
  ["proxy", "proxy", "s.t: words", undefined],
  ["unauthorized", "auth_required", "s.t: words", "fairlead mcp auth 'my server'"],
  ["too_large", "too_large", "s.t: words", "Request a smaller result."],
  ["unanswered", "denied", "s.t: words", undefined],
])("a read that ends with %s: the user reads the code %s and the next step", (wire, code, message, next) => {
  const error = new WireError(wire, "words");
  const expected = { code, message, next, serverName: "my server", evidence: undefined };
  expect(told(toCallError(error, read))).toEqual(expected);
  expect(told(toServerError(error, read))).toEqual(expected);
  const mayHaveRun = wire === "timeout" || wire === "too_large";
  expect(toCallError(error, call).message).toBe(mayHaveRun ? `${message}${doubt}` : message);
});

test("the message names the request once, not also its method", () => {
  const error = new WireError("timeout", "tools/call timed out: no response for 60 s", { step: "tools/call" });
  expect(toServerError(error, call, "; so what").message).toBe("s.t timed out: no response for 60 s; so what");
});

test.each<[WireErrorCode, WireEvidence, string, string | undefined]>([
  ["exited", {}, `s.t: the end${doubt}`, "fairlead mcp logs 'my server'"],
  ["closed", {}, `s.t: the end${doubt}`, "fairlead mcp logs 'my server'"],
  ["flooding", {}, `s.t: the end${doubt}`, "fairlead mcp logs 'my server'"],
  ["http_status", { httpStatus: 500 }, `s.t: words; response begins "body"${doubt}`, undefined],
  ["bad_message", {}, `s.t: words; response begins "body"${doubt}`, undefined],
  ["send_blocked", {}, `s.t: words${doubt}`, undefined],
  ["stream_lost", {}, `s.t: words${doubt}`, undefined],
])(
  "a call that ends with %s: explain() is called only if the error uses its result",
  (wire, evidence, message, next) => {
    const explained: unknown[] = [];
    const error = new WireError(wire, "words", evidence);
    const explain = (cause: unknown): HostError => {
      explained.push(cause);
      return new HostError("server_exited", "the end", { evidence: "body" });
    };
    const lost = toCallError(error, { ...call, explain });
    const isAsked = next !== undefined || message.includes("body");
    expect(explained).toEqual(isAsked ? [error] : []);
    expect(told(lost)).toEqual({
      code: "lost",
      message,
      next,
      serverName: "my server",
      evidence: isAsked ? "body" : undefined,
    });
  },
);

test.each([299, 300, 399, 400])(
  "status %i: a redirect leaves open whether the call ran, another status does not",
  (httpStatus) => {
    const error = new WireError("http_status", "words", { httpStatus });
    const isRedirect = httpStatus === 300 || httpStatus === 399;
    expect(toCallError(error, call).code).toBe(isRedirect ? "lost" : "http_status");
  },
);

test.each([
  ["a refused token", "auth_required", { httpStatus: 401 }, true],
  ["a missing scope", "auth_required", { httpStatus: 403 }, false],
  ["another failure with status 401", "http_status", { httpStatus: 401 }, false],
] as const)("%s: the user must sign in again: %s %o %s", (_what, code, evidence, isNeeded) => {
  const cause = new WireError("unauthorized", "words", evidence);
  expect(needsSignIn(new HostError(code, "words", { cause }))).toBe(isNeeded);
});

test("an error whose cause is no WireError needs no sign-in, counts as sent, and has no pause", () => {
  for (const cause of [undefined, new Error("other"), { evidence: { httpStatus: 401, unsent: true } }]) {
    const error = new HostError("auth_required", "words", { cause });
    expect([needsSignIn(error), neverLeft(error), pauseAfter(error), isServerBusy(error)]).toEqual([
      false,
      false,
      undefined,
      false,
    ]);
  }
});

test("a server is busy by the error itself or by the cause of a lost request, not by the cause of a denial", () => {
  const wire = new WireError("http_status", "slow down", { httpStatus: 429, retryAfter: "3" });
  const busy = new HostError("http_status", "busy", { cause: wire });
  const lost = new HostError("lost", "lost", { cause: busy });
  const other = new HostError("denied", "no", { cause: busy });
  expect([busy, lost, other].map(pauseAfter)).toEqual([3000, 3000, undefined]);
  expect([busy, lost, other].map(isServerBusy)).toEqual([true, true, false]);
  const bare = new HostError("lost", "lost", { cause: wire });
  expect([pauseAfter(bare), isServerBusy(bare)]).toEqual([3000, true]);
});

test("a reply with an error but without its details is an error of the tool", () => {
  expect(toServerError(new WireError("rpc", "words"), call)).toMatchObject({
    code: "tool_error",
    message: "s.t: words",
  });
});
