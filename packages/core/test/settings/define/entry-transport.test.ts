import { expect, test } from "vitest";
import { parseJsonc } from "../../../src/files/json/jsonc.ts";
import { readTransport } from "../../../src/settings/define/entry-transport.ts";

/** Reads an entry. A report is its severity, the text that it points at, its message and the next step. */
function read(entry: unknown) {
  const text = JSON.stringify(entry);
  const { root } = parseJsonc(text);
  if (root === undefined) throw new Error("the text holds no value");
  const reports: string[] = [];
  const transport = readTransport(root, (severity, { offset, length }, message, next) => {
    const at = text.slice(offset, offset + length);
    reports.push(`${severity} at ${at}: ${message}${next === undefined ? "" : ` → ${next}`}`);
  });
  return { transport, reports };
}

const url = "http://h";
const stdio = { kind: "stdio", command: "x", args: [], env: new Map() };
const over = (kind: string) => ({ kind, url, headers: new Map() });

test.each<[unknown, object | undefined]>([
  [{ command: "x" }, stdio],
  [
    { command: "x", args: ["a", "b"], env: { A: "1" }, cwd: "/d", type: "stdio" },
    { ...stdio, args: ["a", "b"], env: new Map([["A", "1"]]), cwd: "/d" },
  ],
  [{ command: "./my program" }, { ...stdio, command: "./my program" }],
  [{ command: " x " }, { ...stdio, command: " x " }],
  [{ url }, over("http-or-sse")],
  [{ url, type: "http" }, over("http")],
  [{ url, type: "streamable-http" }, over("http")],
  [{ url, type: "sse" }, over("sse")],
  [{ url, type: "other" }, over("http-or-sse")],
  [{ url, transportType: "sse" }, over("sse")],
  [{ url, type: "http", transportType: "streamable-http" }, over("http")],
  [{ httpUrl: url, type: "http" }, over("http")],
  [
    { httpUrl: url, headers: { A: "1" } },
    { ...over("http"), headers: new Map([["A", "1"]]) },
  ],
  [{ command: 7 }, undefined],
  ["x", undefined],
])("the transport of %j is %j", (entry, transport) => {
  expect(read(entry)).toEqual({ transport, reports: [] });
});

const none = (ways: string) => `the entry has ${ways}; it must have exactly one of them`;
const noEffect = (value: string, key: string, way: string) =>
  `warning at ${value}: "${key}" has no effect together with "${way}"`;

test.each<[object, object | undefined, readonly string[]]>([
  [{}, undefined, [`error at {}: ${none("none of command, url and httpUrl")}`]],
  [{ url, httpUrl: url }, undefined, [expect.stringContaining(none("url and httpUrl"))]],
  [{ httpUrl: url, url, command: "x" }, undefined, [expect.stringContaining(none("command and url and httpUrl"))]],
  [{ command: " " }, undefined, ['error at " ": "command" is empty']],
  [
    { command: "npx x" },
    { ...stdio, command: "npx x" },
    [
      'warning at "npx x": "command" must name one program, without arguments; it is "npx x" → Move its arguments to "args".',
    ],
  ],
  [
    { command: "x", headers: {}, oauth: [] },
    stdio,
    [noEffect("{}", "headers", "command"), noEffect("[]", "oauth", "command")],
  ],
  [
    { httpUrl: url, args: [], env: {}, cwd: "" },
    over("http"),
    [noEffect("[]", "args", "httpUrl"), noEffect("{}", "env", "httpUrl"), noEffect('""', "cwd", "httpUrl")],
  ],
  [
    { command: "x", type: "sse" },
    stdio,
    ['warning at "sse": the transport "sse" does not match "command"; Fairlead uses "command"'],
  ],
  [
    { url, type: "stdio" },
    over("http-or-sse"),
    ['warning at "stdio": the transport "stdio" does not match "url"; Fairlead uses "url"'],
  ],
  [
    { httpUrl: url, transportType: "sse" },
    over("http"),
    ['warning at "sse": the transport "sse" does not match "httpUrl"; Fairlead uses "httpUrl"'],
  ],
  [
    { url, type: "http", transportType: "sse" },
    over("http"),
    ['warning at "sse": "transportType" differs from "type"; Fairlead uses "type"'],
  ],
])("the user reads what is wrong in %j", (entry, transport, reports) => {
  expect(read(entry)).toEqual({ transport, reports });
});
