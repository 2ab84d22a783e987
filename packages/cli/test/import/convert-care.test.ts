import { expect, test } from "vitest";
import { type Case, convert, expectConversion } from "../support/conversions.ts";

const cases: readonly Case[] = [
  {
    title: "no kind of approval becomes trust",
    program: "cursor",
    value: { command: "run", trust: true, autoApprove: ["*"], alwaysAllow: ["*"] },
    entry: { command: "run" },
    remarks: ["dropped trust", "dropped autoApprove", "dropped alwaysAllow"],
  },
  {
    title: "relative paths of a project are written out for the user's settings",
    program: "claude-code",
    context: { folder: "/work/$app", root: "/work/$app" },
    value: { command: "./bin/server", args: ["./data"] },
    entry: { command: "/work/$$app/bin/server", args: ["./data"] },
    remarks: ["converted command", "hint args[0]"],
  },
  {
    title: "relative paths of a project stay in that project's settings",
    program: "claude-code",
    context: { folder: "/work/app", target: "workspace" },
    value: { command: "./bin/server", args: ["./data"], cwd: "sub" },
    entry: { command: "./bin/server", args: ["./data"], cwd: "sub" },
  },
  {
    title: "a folder of another project is written out",
    program: "vscode",
    context: { folder: "/work/other", target: "workspace" },
    value: { command: "run", cwd: "${workspaceFolder}/sub" },
    entry: { command: "run", cwd: "/work/other/sub" },
    remarks: ["converted cwd"],
  },
  {
    title: "where a relative path of the user's own starts is said",
    program: "codex",
    value: { command: "./server", cwd: "~/x" },
    entry: { command: "./server", cwd: "~/x" },
    remarks: ["hint command"],
  },
  {
    title: "keys that belong to the other transport are named",
    program: "cursor",
    value: { type: "stdio", command: "run", url: "https://example.com", headers: {} },
    entry: { command: "run" },
    remarks: ["dropped url", "dropped headers"],
  },
  // What is not a server that can be reached is refused, and says why.
  ...([null, 7, "npx server", [], undefined] as const).map((value) => ({
    title: `${JSON.stringify(value)} is no server`,
    program: "cursor" as const,
    value,
    entry: {},
    remarks: ["obstacle "],
  })),
  { title: "neither command nor URL", program: "cursor", value: { args: ["x"] }, entry: {}, remarks: ["obstacle "] },
  {
    title: "an empty command",
    program: "cursor",
    value: { command: " " },
    entry: { command: " " },
    remarks: ["obstacle "],
  },
  {
    title: "both command and URL",
    program: "cursor",
    value: { command: "x", url: "http://x" },
    entry: {},
    remarks: ["obstacle "],
  },
  {
    title: "two addresses",
    program: "windsurf",
    value: { url: "http://x", serverUrl: "http://y" },
    entry: {},
    remarks: ["obstacle "],
  },
  {
    title: "a foreign transport",
    program: "claude-code",
    value: { type: "ws", url: "ws://x" },
    entry: {},
    remarks: ["obstacle type"],
  },
  {
    title: "stdio without a command",
    program: "vscode",
    value: { type: "stdio", url: "http://x" },
    entry: {},
    remarks: ["obstacle command"],
  },
  {
    title: "an invalid URL",
    program: "cursor",
    value: { url: "nowhere" },
    entry: { url: "nowhere" },
    remarks: ["obstacle url"],
  },
  {
    title: "a command that is no text",
    program: "cursor",
    value: { command: ["npx"] },
    entry: {},
    remarks: ["obstacle command"],
  },
  {
    title: "arguments that are no texts",
    program: "cursor",
    value: { command: "x", args: ["a", { b: 1 }, 3] },
    entry: { command: "x", args: ["a", "3"] },
    remarks: ["obstacle args[1]"],
  },
  {
    title: "an environment that is a list",
    program: "cursor",
    value: { command: "x", env: ["A=1"] },
    entry: { command: "x" },
    remarks: ["obstacle env"],
  },
  {
    title: "a header with a line break",
    program: "cursor",
    value: { url: "https://x.example", headers: { A: "1\r\nB: 2" } },
    entry: { url: "https://x.example", headers: { A: "1\r\nB: 2" } },
    remarks: ["obstacle headers.A"],
  },
  {
    title: "a filter that is no list",
    program: "codex",
    value: { command: "x", enabled_tools: "a" },
    entry: { command: "x" },
    remarks: ["obstacle enabled_tools"],
  },
  {
    title: "a timeout without a unit",
    program: "cursor",
    value: { command: "x", timeout: 60 },
    entry: { command: "x" },
    remarks: ["dropped timeout"],
  },
  {
    title: "a timeout that is no time",
    program: "codex",
    value: { command: "x", tool_timeout_sec: -1 },
    entry: { command: "x" },
    remarks: ["dropped tool_timeout_sec"],
  },
  {
    title: "a timeout without end",
    program: "codex",
    value: { command: "x", tool_timeout_sec: Infinity },
    entry: { command: "x", timeout: 2147483647 },
    remarks: ["converted tool_timeout_sec"],
  },
  {
    title: "empty lists and tables of a command are left out",
    program: "codex",
    value: { command: "x", args: [], env: {}, env_vars: [] },
    entry: { command: "x" },
  },
  {
    title: "an empty table of headers is left out",
    program: "cursor",
    value: { url: "https://x.example", headers: {}, auth: {} },
    entry: { url: "https://x.example" },
  },
  {
    title: "empty tables of headers are left out",
    program: "codex",
    value: { url: "https://x.example", http_headers: {}, env_http_headers: {}, scopes: [] },
    entry: { url: "https://x.example", type: "http" },
  },
  {
    title: "httpUrl is an address for streamable HTTP",
    program: "cursor",
    value: { httpUrl: "https://x.example/mcp" },
    entry: { url: "https://x.example/mcp", type: "http" },
  },
  {
    title: "the secret of a client is kept",
    program: "claude-code",
    value: { type: "sse", url: "https://x.example", oauth: { clientId: "a", clientSecret: "b" } },
    entry: { url: "https://x.example", type: "sse", oauth: { clientId: "a", clientSecret: "b" } },
  },
  {
    title: "both tables of headers are kept, and a variable replaces a header of the same name",
    program: "codex",
    value: {
      url: "https://x.example",
      headers: { A: "1", B: "1" },
      http_headers: { B: "2", C: "2" },
      env_http_headers: { C: "SEA", D: "A-B" },
      scopes: ["${x}"],
    },
    entry: {
      url: "https://x.example",
      type: "http",
      headers: { A: "1", B: "2", C: "${SEA}" },
      oauth: { scopes: ["$${x}"] },
    },
    remarks: ["converted scopes", "converted env_http_headers.C", "obstacle env_http_headers.D"],
  },
  {
    title: "on Windows, a command that is no path stays as it is",
    program: "cursor",
    context: { folder: "C:\\app", root: "C:\\app", platform: "win32" },
    value: { command: "server.exe" },
    entry: { command: "server.exe" },
  },
  {
    title: "on Windows, a command that is no text is in the way",
    program: "cursor",
    context: { platform: "win32" },
    value: { command: 7 },
    entry: {},
    remarks: ["obstacle command"],
  },
];

test.each(cases)("what needs care in a server of another program: $program: $title", expectConversion);

test.each([
  ["user", "your home folder"],
  ["workspace", "the workspace"],
] as const)("the hint at a relative path in the %s's settings names %s", (target, where) => {
  const { remarks } = convert({ program: "codex", value: { command: "./server" }, context: { target } });
  expect(remarks.map(({ message }) => message)).toEqual([`is a relative path; Fairlead resolves it in ${where}`]);
});
