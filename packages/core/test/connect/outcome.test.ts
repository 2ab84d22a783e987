import { WireError, type WireErrorCode } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { ConnectFacts } from "../../src/connect/connect-failure.ts";
import {
  isServerBusy,
  neverLeft,
  pauseAfter,
  toCallError,
  toConnectError,
  toServerError,
} from "../../src/connect/outcome.ts";
import { type ErrorCode, HostError } from "../../src/errors.ts";

const subject = { serverName: "s", what: "s.t", method: "tools/call" };

describe("every error of the wire has its code in the host", () => {
  const codes: Readonly<Record<Exclude<WireErrorCode, "rpc">, ErrorCode>> = {
    cancelled: "cancelled",
    timeout: "call_timeout",
    closed: "unreachable",
    spawn_failed: "command_not_found",
    exited: "server_exited",
    unreachable: "unreachable",
    tls: "tls",
    proxy: "proxy",
    http_status: "http_status",
    unauthorized: "auth_required",
    session_expired: "unreachable",
    stream_lost: "unreachable",
    task_lost: "unreachable",
    too_large: "too_large",
    bad_message: "protocol",
    flooding: "flooding",
    send_blocked: "unreachable",
    unanswered: "denied",
  };
  test.each(Object.entries(codes))("%s: %s", (wireCode, code) => {
    const cause = new WireError(wireCode as WireErrorCode, "words", { unsent: true });
    const message = code === "call_timeout" ? "s.t timed out: words" : "s.t: words";
    const told = { code, message, serverName: "s", cause };
    expect(toCallError(cause, subject)).toMatchObject(told);
    expect(toServerError(cause, subject)).toMatchObject(told);
  });

  test.each(["exited", "closed", "flooding", "unreachable", "session_expired", "stream_lost", "task_lost"] as const)(
    "%s in the middle of a call: lost, because Fairlead does not know whether it ran",
    (wireCode) => {
      const error = new WireError(wireCode, "words");
      expect(toCallError(error, subject)).toMatchObject({
        code: "lost",
        message: "s.t: words; the request may or may not have run",
        serverName: "s",
        cause: { code: codes[wireCode], message: '"s": words', cause: error },
      });
    },
  );

  test.each(["timeout", "too_large"] as const)(
    "%s of a call that was sent: Fairlead does not know whether it ran",
    (wireCode) => {
      const error = new WireError(wireCode, "words");
      const doubt = "; the request may or may not have run";
      expect(toCallError(error, subject)).toMatchObject({
        code: codes[wireCode],
        message: expect.stringMatching(`words${doubt}$`),
      });
      expect(toCallError(error, { ...subject, method: "resources/read" }).message).toMatch(/words$/);
    },
  );

  test("how the server ended is the cause, in the words of the session's own explanation", () => {
    const end = new HostError("server_exited", '"s" exited with code 3; stderr: oh', { evidence: "oh" });
    expect(toCallError(new WireError("exited", "words"), { ...subject, explain: () => end })).toMatchObject({
      code: "lost",
      message: 's.t: "s" exited with code 3; stderr: oh; the request may or may not have run',
      cause: end,
      evidence: "oh",
      next: "fairlead mcp logs s",
    });
  });

  test.each([500, 502, 503, 504])(
    "a status of %i in place of an answer: lost, with the server's own words",
    (httpStatus) => {
      const error = new WireError("http_status", "words", { httpStatus, firstBytes: "oops: key" });
      const explain = (): HostError => new HostError("http_status", "unused", { evidence: "oops: (hidden)" });
      expect(toCallError(error, { ...subject, explain })).toMatchObject({
        code: "lost",
        message: 's.t: words; response begins "oops: (hidden)"; the request may or may not have run',
        cause: { code: "http_status", cause: error },
        evidence: "oops: (hidden)",
      });
      expect(toCallError(error, subject)).toMatchObject({
        code: "lost",
        message: "s.t: words; the request may or may not have run",
      });
    },
  );

  test.each([302, 307, 408, 425])("a status of %i proves nothing about a call; a read has no effect", (httpStatus) => {
    const error = new WireError("http_status", "words", { httpStatus });
    expect(toCallError(error, subject)).toMatchObject({ code: "lost" });
    expect(toCallError(error, { ...subject, method: "resources/read" })).toMatchObject({ code: "http_status" });
  });

  test.each([400, 404])("a status of %i is a refusal", (httpStatus) => {
    const error = new WireError("http_status", "words", { httpStatus });
    expect(toCallError(error, subject)).toMatchObject({ code: "http_status", message: "s.t: words", cause: error });
  });

  test("a request that never left is known by its error", () => {
    const failed = (evidence: object): HostError =>
      toCallError(new WireError("unreachable", "words", evidence), subject);
    expect([failed({ unsent: true }), failed({}), new HostError("busy", "no")].map(neverLeft)).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each([
    [429, "2", 2000, "2 s"],
    [503, "0.5", 500, "1 s"],
    [503, "99999999", 86_400_000, "24 h"],
  ])("a busy server (%i, Retry-After: %s): a call may have run; a read has no effect", (...given) => {
    const [httpStatus, retryAfter, pause, wait] = given;
    for (const code of ["http_status", "rpc"] as const) {
      const error = new WireError(code, "slow down", { httpStatus, retryAfter, rpc: { code: -32000 } });
      const busy = `s.t: the server is busy (HTTP ${httpStatus})`;
      const lost = toCallError(error, subject);
      expect(lost).toMatchObject({ code: "lost", message: `${busy}; the request may or may not have run` });
      expect(lost.next).toContain(`again in ${wait}.`);
      const read = toCallError(error, { ...subject, method: "resources/read" });
      expect(read).toMatchObject({ code: "http_status", message: busy, next: `Try again in ${wait}.` });
      for (const told of [lost, read]) expect([pauseAfter(told), isServerBusy(told)]).toEqual([pause, true]);
    }
  });

  test.each([
    { httpStatus: 429 },
    { httpStatus: 429, retryAfter: "some day" },
    { httpStatus: 500, retryAfter: "2" },
    { httpStatus: 408 },
  ])("%o says nothing about when to come back", (evidence) => {
    const told = toCallError(new WireError("http_status", "words", evidence), subject);
    expect([told.code, pauseAfter(told), isServerBusy(told)]).toEqual(["lost", undefined, evidence.httpStatus === 429]);
  });

  test.each(["bad_message", "send_blocked"] as const)("%s after a call was sent: lost; after a read: not", (code) => {
    const error = new WireError(code, "words", { httpStatus: 200 });
    const message = "s.t: words; the request may or may not have run";
    expect(toCallError(error, subject)).toMatchObject({ code: "lost", message });
    expect(toCallError(error, { ...subject, method: "prompts/get" })).toMatchObject({ code: codes[code] });
  });

  test.each([
    [{ httpStatus: 403 }, "http_status"],
    [{ httpStatus: 403, wwwAuthenticate: "Bearer" }, "auth_required"],
    [{ httpStatus: 401 }, "auth_required"],
  ])("unauthorized with %o: %s", (evidence, code) => {
    expect(toCallError(new WireError("unauthorized", "words", evidence), subject)).toMatchObject({ code });
  });

  test.each([
    [-32602, "arguments_invalid"],
    [-32603, "tool_error"],
    [-32000, "tool_error"],
  ])("an error reply %i: %s", (rpc, code) => {
    expect(toCallError(new WireError("rpc", "words", { rpc: { code: rpc } }), subject)).toMatchObject({ code });
  });
});

test("an error of the host stays what it is; anything else should not have happened", () => {
  const own = new HostError("denied", "no");
  expect(toCallError(own, subject)).toBe(own);
  const foreign = new TypeError("x is undefined");
  expect(toCallError(foreign, subject)).toMatchObject({
    code: "internal",
    message: "s.t failed: x is undefined",
    cause: foreign,
  });
  expect(toCallError("thrown text", subject)).toMatchObject({ code: "internal", message: "s.t failed: thrown text" });
});

test("an unexpected error of a server that could not be connected is an internal error, and a known one stays", () => {
  const facts = { definition: { name: "s" } } as unknown as ConnectFacts;
  const cause = new TypeError("boom");
  expect(toConnectError(cause, facts)).toMatchObject({
    code: "internal",
    message: '"s" failed: boom',
    serverName: "s",
    cause,
  });
  const known = new HostError("denied", "no");
  expect(toConnectError(known, facts)).toBe(known);
});
