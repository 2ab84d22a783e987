/** What a person is told when a server could not be connected: the code, the whole message, the advice, the evidence. */

import { WireError, type WireErrorCode } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { type ConnectFacts, describeFailure, isForbidden, signInErrorIn } from "../../src/connect/connect-failure.ts";
import { HostError } from "../../src/errors.ts";
import type { ServerDefinition, Transport } from "../../src/settings/define/definition.ts";

const program: Transport = { kind: "stdio", command: "tool", args: [], env: new Map() };
const address = (...headers: readonly string[]): Transport => ({
  kind: "http",
  url: "https://a.example",
  headers: new Map(headers.map((name) => [name, "value"])),
});

function facts(changes: Partial<ConnectFacts> = {}, transport = program): ConnectFacts {
  const definition = { name: "my db", transport, origin: { scope: "user", file: "/s.json", line: 4, column: 5 } };
  return {
    definition: definition as unknown as ServerDefinition,
    timeout: { milliseconds: 1500, setting: "fairlead.connectTimeout" },
    isTimedOut: false,
    lastRequest: undefined,
    hasSentMessage: false,
    diagnostics: [],
    stderr: [],
    isFound: false,
    withheld: [],
    droppedPath: [],
    redact: (text) => text.replaceAll("hunter2", "(hidden)"),
    ...changes,
  };
}

/** The four texts of the error: code, message after the server's name, advice, evidence. */
function told(error: WireError, given = facts()): unknown[] {
  const { code, message, next, evidence, serverName, cause } = describeFailure(error, given);
  expect([serverName, cause]).toEqual(["my db", error]);
  return [code, message.replace(/^"my db" /, "… "), next, evidence];
}

const wire = (code: WireErrorCode, message = "words", evidence: WireError["evidence"] = {}, cause?: unknown) =>
  new WireError(code, message, evidence, cause === undefined ? undefined : { cause });
const system = (code: string): Error => Object.assign(new Error("system"), { code });

const logs = "fairlead mcp logs 'my db'";
const checkAddress = "Check that the server is running and that its address is right (/s.json:4).";
const checkCommand = "Check the command and its arguments (/s.json:4).";
const raise = 'raise "fairlead.connectTimeout" in settings.json';
const signIn = "fairlead mcp auth 'my db'";

test.each<[WireErrorCode, string, string, string | undefined]>([
  ["cancelled", "cancelled", "was not connected: cancelled", undefined],
  ["timeout", "connect_timeout", "timed out after 1.5 s: the program did not start", raise],
  ["unreachable", "unreachable", "cannot be reached: words", checkAddress],
  ["session_expired", "unreachable", "cannot be reached: words", checkAddress],
  ["stream_lost", "unreachable", "cannot be reached: words", checkAddress],
  ["task_lost", "unreachable", "cannot be reached: words", checkAddress],
  ["proxy", "proxy", "cannot be reached: words", "Check HTTPS_PROXY and HTTP_PROXY, or add the host to NO_PROXY."],
  ["too_large", "too_large", "was not connected: words", logs],
  ["flooding", "flooding", "was disconnected: words", logs],
  ["send_blocked", "protocol", "does not read its input: words", logs],
  ["unanswered", "protocol", "was not connected: words", logs],
  ["spawn_failed", "unreachable", "did not start: words", undefined],
  ["exited", "server_exited", "words", checkCommand],
  ["closed", "server_exited", "closed the connection (words)", checkCommand],
  ["bad_message", "not_mcp", "is not an MCP server: words", checkCommand],
  ["http_status", "http_status", "cannot be used: words", checkAddress],
  ["unauthorized", "auth_required", "requires sign-in (HTTP 401)", signIn],
  ["rpc", "protocol", "answered the handshake with an error: words (0)", logs],
])("%s: %s", (wireCode, code, what, next) => {
  expect(told(wire(wireCode))).toEqual([code, `… ${what}`, next, undefined]);
});

describe("a timeout", () => {
  const noise = "a line on stdout is not a message: hello";
  test.each<[string, Partial<ConnectFacts>, string, string, string]>([
    [
      "during a request",
      { lastRequest: "initialize", stderr: ["fatal: x"] },
      "connect_timeout",
      "timed out after 1.5 s: no response to initialize; stderr: fatal: x",
      raise,
    ],
    [
      "of a server with a setting of its own",
      { timeout: { milliseconds: 2000, setting: "timeout" } },
      "connect_timeout",
      "timed out after 2 s: the program did not start",
      'raise "timeout" of "my db" (/s.json:4)',
    ],
    [
      "of a program that prints something else",
      { diagnostics: ["another", noise, `${noise} again`], stderr: ["fatal: x"] },
      "not_mcp",
      "is not an MCP server: the program did not start within 1.5 s, and its stdout is not MCP: hello",
      checkCommand,
    ],
    [
      "with another diagnostic",
      { diagnostics: ["another", "last"], stderr: ["fatal: x"] },
      "connect_timeout",
      "timed out after 1.5 s: the program did not start; another",
      raise,
    ],
    [
      "of a server that has answered before",
      { diagnostics: [noise], hasSentMessage: true, stderr: ["fatal: x"] },
      "connect_timeout",
      "timed out after 1.5 s: the program did not start; stderr: fatal: x",
      raise,
    ],
  ])("%s", (_, changes, code, what, next) => {
    const evidence = changes.stderr?.join("\n");
    expect(told(wire("timeout"), facts(changes))).toEqual([code, `… ${what}`, next, evidence]);
    expect(told(wire("cancelled"), facts({ ...changes, isTimedOut: true }))).toEqual([
      code,
      `… ${what}`,
      next,
      evidence,
    ]);
  });

  test("says nothing about another failure that came before it", () => {
    expect(told(wire("proxy"), facts({ isTimedOut: true }))[0]).toBe("proxy");
  });
});

test.each<[string, string]>([
  ["EPROTO", "If the server speaks plain HTTP, write http:// instead of https:// (/s.json:4)."],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "If the server speaks plain HTTP, write http:// instead of https:// (/s.json:4)."],
  ["ERR_SSL_OTHER", checkAddress],
  [
    "SELF_SIGNED_CERT",
    "If your own certificate authority signed the certificate, set NODE_EXTRA_CA_CERTS to the authority's certificate file.",
  ],
])("TLS that fails with %s", (code, next) => {
  const error = wire("tls", "words", {}, wire("unreachable", "inner", {}, system(code)));
  expect(told(error)).toEqual(["tls", "… cannot be reached over TLS: words", next, undefined]);
});

describe("a program that does not start", () => {
  const install = "Install the command, or correct it (/s.json:4).";
  test.each<[string, string, string | undefined]>([
    ["ENOENT", "command_not_found", install],
    ["ENOTDIR", "command_not_found", install],
    ["EACCES", "command_not_found", install],
    ["ENOEXEC", "command_not_found", install],
    ["E2BIG", "settings_invalid", checkCommand],
    ["ERR_INVALID_ARG_VALUE", "settings_invalid", checkCommand],
    ["EMFILE", "unreachable", undefined],
  ])("%s: %s", (systemCode, code, next) => {
    const error = wire("spawn_failed", "words", {}, system(systemCode));
    expect(told(error)).toEqual([code, "… did not start: words", next, undefined]);
  });

  test.each([
    ["uvx", "Install uvx, which is part of uv: https://docs.astral.sh/uv, or correct the command (/s.json:4)."],
    ["npx", "Install npx, which is part of Node.js: https://nodejs.org, or correct the command (/s.json:4)."],
    ["./npx", install],
  ])("%s: the user learns where to get it", (command, next) => {
    const error = wire("spawn_failed", "words", {}, system("ENOENT"));
    expect(told(error, facts({}, { ...program, command }))[2]).toBe(next);
  });

  test("although its file was found", () => {
    const error = wire("spawn_failed", "words", {}, system("EACCES"));
    expect(told(error, facts({ isFound: true }))[2]).toBe(checkCommand);
  });

  test.each([
    ["tool", '; PATH entries ignored because this folder is not trusted: "bin", ""'],
    ["./tool", ""],
    [String.raw`bin\tool`, ""],
  ])("%s: ignored entries of PATH are named if it was searched for", (command, dropped) => {
    const given = facts({ droppedPath: ["bin", ""] }, { ...program, command });
    expect(told(wire("spawn_failed"), given)[1]).toBe(`… did not start: words${dropped}`);
  });
});

describe("a program that ends", () => {
  test.each<[string, Partial<ConnectFacts>, WireError["evidence"], readonly unknown[]]>([
    [
      "during a request, after a last line",
      { lastRequest: "initialize", stderr: ["fatal: x", ""], diagnostics: ["odd"] },
      { exitCode: 0 },
      ["not_mcp", "… is not an MCP server: odd; then it exited", checkCommand],
    ],
    [
      "with an error",
      { lastRequest: "initialize", stderr: ["fatal: x"], diagnostics: ["odd"] },
      { exitCode: 1 },
      ["server_exited", "… exited during initialize; stderr: fatal: x", logs],
    ],
    [
      "with an error, saying nothing on stderr",
      { diagnostics: ["odd", "later"] },
      { exitCode: 1 },
      ["server_exited", "… exited; odd", checkCommand],
    ],
    [
      "although it has answered",
      { diagnostics: ["odd"], hasSentMessage: true },
      { exitCode: 0 },
      ["server_exited", "… exited; odd", checkCommand],
    ],
    ["in silence", {}, { exitCode: 0 }, ["server_exited", "… exited", checkCommand]],
    [
      "because its package does not exist",
      { stderr: ["npm error code E404", "npm error 404 Not Found"] },
      { exitCode: 1 },
      ["server_exited", "… exited; stderr: E404 Not Found", "Check the package's name and version (/s.json:4)."],
    ],
    [
      "for want of a password",
      { stderr: ["password missing"] },
      { exitCode: 1 },
      [
        "server_exited",
        "… exited; stderr: password missing",
        'If the server needs credentials, add them to "env" of "my db" (/s.json:4): servers get only the variables in their "env".',
      ],
    ],
  ])("%s", (_, changes, evidence, expected) => {
    const stderr = changes.stderr?.join("\n");
    expect(told(wire("exited", "the server exited", evidence), facts(changes))).toEqual([...expected, stderr]);
  });
});

describe("a server that answers with a status", () => {
  const later = "Try again later.";
  test.each<[WireError["evidence"], string, string]>([
    [{ httpStatus: 404 }, "cannot be used: words", checkAddress],
    [{ httpStatus: 499 }, "cannot be used: words", checkAddress],
    [{ httpStatus: 500 }, "cannot be used: words", later],
    [{ httpStatus: 429, retryAfter: "7" }, "cannot be used: words; Retry-After: 7", later],
    [{ httpStatus: 404, firstBytes: "<p>" }, 'cannot be used: words; response begins "<p>"', checkAddress],
    [
      { httpStatus: 403, firstBytes: "<p>", retryAfter: "7" },
      'refused access: words; response begins "<p>"',
      'Check the address and "headers" of "my db" (/s.json:4).',
    ],
  ])("%j", (evidence, what, next) => {
    const expected = ["http_status", `… ${what}`, next, evidence.firstBytes];
    expect(told(wire("http_status", "words", evidence))).toEqual(expected);
    if (evidence.httpStatus === 403) expect(told(wire("unauthorized", "words", evidence))).toEqual(expected);
  });

  test.each<[Transport, WireError["evidence"], string, string]>([
    [address(), {}, "requires sign-in (HTTP 401)", signIn],
    [address(), { httpStatus: 403, wwwAuthenticate: "Bearer" }, "requires sign-in (HTTP 403)", signIn],
    [
      address("X-A", "X-B"),
      { httpStatus: 401 },
      "requires sign-in (HTTP 401) and rejected the configured headers: X-A, X-B",
      signIn,
    ],
    [
      address("X-A", "AUTHORIZATION"),
      { httpStatus: 401 },
      "requires sign-in (HTTP 401) and rejected the configured headers: X-A, AUTHORIZATION",
      `Correct "headers" of "my db" (/s.json:4). Or remove the Authorization header, then run: ${signIn}`,
    ],
  ])("that asks for a sign-in: %j %j", (transport, evidence, what, next) => {
    expect(told(wire("unauthorized", "words", evidence), facts({}, transport))).toEqual([
      "auth_required",
      `… ${what}`,
      next,
      undefined,
    ]);
  });

  test("whose sign-in failed", () => {
    const error = wire("unauthorized", "words", { httpStatus: 403 }, new Error("no browser"));
    expect([isForbidden(error), signInErrorIn(error)]).toEqual([false, undefined]);
    expect(told(error)).toEqual(["auth_failed", "… sign-in failed: words", signIn, undefined]);
  });

  test("whose sign-in failed with an error of its own, which is told without secrets", () => {
    const whole = new HostError("auth_failed", "hunter2 is wrong", { next: "Try hard.", evidence: "sent hunter2" });
    const bare = new HostError("auth_required", "sign in");
    expect(signInErrorIn(wire("unauthorized", "words", {}, whole))).toBe(whole);
    expect(signInErrorIn(wire("unreachable", "words", {}, whole))).toBeUndefined();
    expect(told(wire("unauthorized", "words", {}, whole))).toEqual([
      "auth_failed",
      "(hidden) is wrong",
      "Try hard.",
      "sent (hidden)",
    ]);
    expect(told(wire("unauthorized", "words", {}, bare))).toEqual(["auth_required", "sign in", undefined, undefined]);
  });
});

describe("a message that is none", () => {
  test.each<[string, Partial<ConnectFacts>, WireError["evidence"], Transport, readonly unknown[]]>([
    [
      "because it could not be sent",
      { hasSentMessage: true },
      { unsent: true },
      program,
      ["settings_invalid", "… was not connected: words", 'Correct the settings of "my db" (/s.json:4).'],
    ],
    [
      "of a server that has answered before",
      { hasSentMessage: true },
      {},
      program,
      ["protocol", "… violates the MCP protocol: words", logs],
    ],
    [
      "of a program, with a diagnostic",
      { diagnostics: ["odd", "later"] },
      {},
      program,
      ["not_mcp", "… is not an MCP server: odd", checkCommand],
    ],
    [
      "of an address, with its first bytes",
      { diagnostics: ["odd"] },
      { firstBytes: "<p>" },
      address(),
      ["not_mcp", '… is not an MCP server: words; response begins "<p>"', checkAddress],
    ],
  ])("%s", (_, changes, evidence, transport, expected) => {
    expect(told(wire("bad_message", "words", evidence), facts(changes, transport))).toEqual([
      ...expected,
      evidence.firstBytes,
    ]);
  });
});

test("an error in the handshake names its step and its number, and may hint at credentials", () => {
  const error = wire("rpc", "no token", { step: "initialize", rpc: { code: -32001 } });
  expect(told(error)).toEqual([
    "protocol",
    "… answered initialize with an error: no token (-32001)",
    'If the server needs credentials, add them to "env" of "my db" (/s.json:4): servers get only the variables in their "env".',
    undefined,
  ]);
});

test("secrets are hidden in message and evidence, and stderr is evidence before the first bytes", () => {
  const error = wire("unreachable", "with hunter2", { firstBytes: "bytes of hunter2" });
  expect(told(error).at(-1)).toBe("bytes of (hidden)");
  expect(told(error, facts({ stderr: ["a", "hunter2"] }))).toEqual([
    "unreachable",
    "… cannot be reached: with (hidden)",
    checkAddress,
    "a\n(hidden)",
  ]);
  expect(told(wire("unreachable", "words", { firstBytes: "" })).at(-1)).toBeUndefined();
});
