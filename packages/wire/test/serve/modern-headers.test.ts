import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { namesListener, pathOf } from "../../src/serve/http-listener.ts";
import { errorResponse, modernStatus } from "../../src/serve/message-errors.ts";
import { eraOf, headerProblem, messageHeadersIn, modernVersionOf } from "../../src/serve/modern-headers.ts";
import type { JsonObject } from "../../src/session.ts";

const version = "2026-07-28";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const meta = { [versionKey]: version, [capabilitiesKey]: {} };

const message = (method: string, params?: JsonObject) => ({
  jsonrpc: "2.0" as const,
  id: 1,
  method,
  ...(params && { params }),
});
const modern = (method: string, params: JsonObject = {}) => message(method, { ...params, _meta: meta });

test.each<[string, ReturnType<typeof message>, IncomingHttpHeaders, "legacy" | "modern"]>([
  ["a version in _meta", modern("initialize"), { "mcp-session-id": "1" }, "modern"],
  ["nothing", message("tools/list"), {}, "legacy"],
  ["a version that is no text", message("a", { _meta: { [versionKey]: 1 } }), {}, "legacy"],
  ["the last legacy version", message("a"), { "mcp-protocol-version": "2025-11-25" }, "legacy"],
  ["a later version", message("a"), { "mcp-protocol-version": "2025-11-26" }, "modern"],
  ["a header with the method", message("a"), { "mcp-method": "a" }, "modern"],
  ["initialize", message("initialize"), { "mcp-method": "initialize", "mcp-protocol-version": version }, "legacy"],
  ["a session", message("a"), { "mcp-session-id": "1", "mcp-protocol-version": version }, "legacy"],
])("a request with %s is of the right era", (_what, given, headers, era) => {
  expect(eraOf(given, headers)).toBe(era);
});

test("the version of a message is the text in its _meta", () => {
  expect(modernVersionOf(modern("a"))).toBe(version);
  expect(modernVersionOf(message("a"))).toBeUndefined();
});

const schemaOf = (tool: string): unknown =>
  tool === "find"
    ? { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
    : { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } };
const headers = { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "find" };
const find = (args: JsonObject) => modern("tools/call", { name: "find", arguments: args });
const mismatch = (name: string, problem: string) => ({ code: -32_020, message: `the header ${name} ${problem}` });
const missing = (name: string) => mismatch(name, "is missing");
const different = (name: string) => mismatch(name, "does not match the body");
const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

test.each<[string, ReturnType<typeof message>, IncomingHttpHeaders, unknown]>([
  ["equal headers", find({}), headers, undefined],
  ["an equal argument", find({ region: "north" }), { ...headers, "mcp-param-region": "north" }, undefined],
  ["an encoded argument", find({ region: "ä" }), { ...headers, "mcp-param-region": encoded("ä") }, undefined],
  ["encoding without need", find({ region: "a" }), { ...headers, "mcp-param-region": encoded("a") }, undefined],
  ["no headers for arguments", find({ region: "a" }), headers, missing("mcp-param-region")],
  ["another argument", find({ region: "a" }), { ...headers, "mcp-param-region": "b" }, different("mcp-param-region")],
  ["an argument only in a header", find({}), { ...headers, "mcp-param-region": "b" }, different("mcp-param-region")],
  [
    "an encoding that is broken",
    find({ region: "a" }),
    { ...headers, "mcp-param-region": "=?base64?*?=" },
    different("mcp-param-region"),
  ],
  ["another method", find({}), { ...headers, "mcp-method": "tools/list" }, different("mcp-method")],
  ["no method", find({}), { ...headers, "mcp-method": undefined }, missing("mcp-method")],
  ["another name", find({}), { ...headers, "mcp-name": "other" }, different("mcp-name")],
  [
    "another version",
    find({}),
    { ...headers, "mcp-protocol-version": "2026-07-27" },
    different("mcp-protocol-version"),
  ],
  ["no version", find({}), { ...headers, "mcp-protocol-version": undefined }, missing("mcp-protocol-version")],
  [
    "an invalid schema, whose headers are not compared",
    modern("tools/call", { name: "odd", arguments: { a: 1 } }),
    { ...headers, "mcp-name": "odd", "mcp-param-a": "2" },
    undefined,
  ],
  [
    "a prompt that is called like a tool",
    modern("prompts/get", { name: "find", arguments: { region: "a" } }),
    { ...headers, "mcp-method": "prompts/get" },
    undefined,
  ],
])("%s", (_what, given, sent, problem) => {
  expect(headerProblem(given, sent, schemaOf)).toEqual(problem);
});

test("without a function for schemas, arguments are not compared", () => {
  expect(headerProblem(find({ region: "a" }), headers)).toBeUndefined();
});

test("a request must say its version and its client's capabilities, and the version must be supported", () => {
  const lacking = { code: -32_602, message: `params._meta lacks ${versionKey} or ${capabilitiesKey}` };
  expect(headerProblem(message("a"), {})).toEqual(lacking);
  expect(headerProblem(message("a", { _meta: { [versionKey]: version } }), {})).toEqual(lacking);
  expect(headerProblem(message("a", { _meta: { [capabilitiesKey]: {} } }), {})).toEqual(lacking);
  const later = message("a", { _meta: { ...meta, [versionKey]: "2099-01-01" } });
  expect(headerProblem(later, { "mcp-protocol-version": "2099-01-01" })).toEqual({
    code: -32_022,
    message: "protocol version 2099-01-01 is not supported",
    data: { supported: [version], requested: "2099-01-01" },
  });
});

test("the headers of a message are those of arguments, which begin with mcp-param-, and of the trace", () => {
  const others = { "x-mcp-param-b": "2", "x-traceparent": "t", host: "h" };
  expect(messageHeadersIn({ "mcp-param-a": "1", "mcp-param-c": "3", traceparent: "t", ...others })).toEqual({
    "mcp-param-a": "1",
    "mcp-param-c": "3",
    traceparent: "t",
  });
});

test("an error response has data only if there are some; its code decides on the status", () => {
  expect(errorResponse(1, -32_601, "no")).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32_601, message: "no" } });
  expect(errorResponse(null, -1, "no", 0)).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -1, message: "no", data: 0 },
  });
  const statuses = [-32_601, -32_020, -32_021, -32_022, -32_602, -32_603].map((code) =>
    modernStatus(errorResponse(1, code, "")),
  );
  expect(statuses).toEqual([404, 400, 400, 400, 200, 200]);
  expect(modernStatus({ jsonrpc: "2.0", id: 1, result: {} })).toBe(200);
  expect(modernStatus({ jsonrpc: "2.0", id: 1, error: null })).toBe(200);
});

test.each<[string | undefined, string | undefined, boolean]>([
  ["localhost:8080", undefined, true],
  ["LOCALHOST:8080", undefined, true],
  ["127.0.0.1:8080", undefined, true],
  ["[::1]:8080", undefined, true],
  ["localhost:8081", undefined, false],
  ["localhost", undefined, false],
  [undefined, undefined, false],
  ["localhost.evil.example:8080", undefined, false],
  ["evil.example:8080", undefined, false],
  ["localhost:8080", "http://localhost:8080", true],
  ["localhost:8080", "http://127.0.0.1:8080", true],
  ["localhost:8080", "http://localhost:8081", false],
  ["localhost:8080", "https://localhost:8080", false],
  ["localhost:8080", "http://evil.example", false],
  ["localhost:8080", "null", false],
  ["evil.example:8080", "http://localhost:8080", false],
])("a request to %s from the page %s may be for this listener: %s", (host, origin, isFor) => {
  expect(namesListener({ headers: { host, origin } } as unknown as IncomingMessage, 8080)).toBe(isFor);
});

test("a host without a port means port 80, and a path ends before its query", () => {
  expect(namesListener({ headers: { host: "localhost" } } as unknown as IncomingMessage, 80)).toBe(true);
  const paths = ["/mcp", "/mcp?a=1", "/mcp#b", "?a", undefined].map((url) => pathOf({ url } as IncomingMessage));
  expect(paths).toEqual(["/mcp", "/mcp", "/mcp", "", "/"]);
});
