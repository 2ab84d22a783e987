import { WireError, type WireErrorCode, type WireEvidence } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type RetryClass, retryClassOf } from "../../src/connect/retryable.ts";
import { type ErrorCode, errorCodes, HostError } from "../../src/errors.ts";

const because = (code: ErrorCode, wire?: WireErrorCode, evidence?: WireEvidence): HostError =>
  new HostError(code, "what happened", wire ? { cause: new WireError(wire, "why", evidence) } : {});

test.each<[string, HostError, object]>([
  ["a forgotten session", because("unreachable", "session_expired", { httpStatus: 404 }), { kind: "session" }],
  ["no program listens there", because("unreachable", "unreachable"), { kind: "outage" }],
  ["a call that was cut", because("lost", "stream_lost"), { kind: "outage" }],
  [
    "a call that was answered with 500",
    new HostError("lost", "what happened", { cause: because("http_status", "http_status", { httpStatus: 500 }) }),
    { kind: "crash" },
  ],
  [
    "a call that was answered with 502",
    new HostError("lost", "what happened", { cause: because("http_status", "http_status", { httpStatus: 502 }) }),
    { kind: "outage" },
  ],
  ["429", because("http_status", "http_status", { httpStatus: 429 }), { kind: "outage" }],
  [
    "503 that says when",
    because("http_status", "http_status", { httpStatus: 503, retryAfter: "9" }),
    { kind: "outage", retryAfter: "9" },
  ],
  ["502 with an error in it", because("protocol", "rpc", { httpStatus: 502 }), { kind: "outage" }],
  ["504", because("http_status", "http_status", { httpStatus: 504 }), { kind: "outage" }],
  ["404", because("http_status", "http_status", { httpStatus: 404 }), { kind: "crash" }],
  ["an exit", because("server_exited", "exited"), { kind: "crash" }],
  ["a proxy that is gone", because("proxy", "proxy"), { kind: "outage" }],
  ["a proxy that wants to know who we are", because("proxy", "proxy", { httpStatus: 407 }), { kind: "never" }],
  ["no such command", because("command_not_found", "spawn_failed"), { kind: "never" }],
  ["a sign-in", because("auth_required", "unauthorized", { httpStatus: 401 }), { kind: "never" }],
  ["settings", because("variable_unset"), { kind: "never" }],
  ["a flood", because("flooding", "flooding"), { kind: "never" }],
  ["nothing on offer", because("no_capabilities"), { kind: "never" }],
])("%s", (_, error, retry) => {
  expect(retryClassOf(error, { isProgram: false })).toEqual(retry);
});

test("of all error codes, these lead to a new connection or a new start of the program; after any other a person is needed", () => {
  const codesOf = (kind: RetryClass["kind"]): readonly ErrorCode[] =>
    errorCodes.filter((code) => retryClassOf(because(code), { isProgram: true }).kind === kind).toSorted();
  const outages = codesOf("outage");
  const crashes = codesOf("crash");
  expect(outages).toEqual(["lost", "proxy", "unreachable"]);
  expect(crashes).toEqual([
    "connect_timeout",
    "http_status",
    "not_mcp",
    "protocol",
    "server_exited",
    "tls",
    "too_large",
  ]);
  expect(codesOf("never")).toHaveLength(errorCodes.length - outages.length - crashes.length);
});

test("silence is an outage on a network, and a program that hangs", () => {
  const late = because("connect_timeout", "cancelled");
  expect(retryClassOf(late, { isProgram: false })).toEqual({ kind: "outage" });
  expect(retryClassOf(late, { isProgram: true })).toEqual({ kind: "crash" });
});
