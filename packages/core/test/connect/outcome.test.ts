import { WireError, type WireErrorCode } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { toCallError, toServerError } from "../../src/connect/outcome.ts";
import { type ErrorCode, HostError } from "../../src/errors.ts";

const subject = { serverName: "s", what: "s.t" };

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
    too_large: "too_large",
    bad_message: "protocol",
    send_blocked: "unreachable",
  };
  test.each(Object.entries(codes))("%s: %s", (wireCode, code) => {
    const cause = new WireError(wireCode as WireErrorCode, "words", { unsent: true });
    const told = { code, message: "s.t: words", serverName: "s", cause };
    expect(toCallError(cause, subject)).toMatchObject(told);
    expect(toServerError(cause, subject)).toMatchObject(told);
  });

  test.each(["exited", "closed", "unreachable", "session_expired", "stream_lost"] as const)(
    "%s in the middle of a call: lost, for nobody knows whether it ran",
    (wireCode) => {
      const cause = new WireError(wireCode, "words");
      expect(toCallError(cause, subject)).toMatchObject({
        code: "lost",
        message: "s.t: words; it may or may not have run",
        serverName: "s",
        cause,
      });
    },
  );

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
