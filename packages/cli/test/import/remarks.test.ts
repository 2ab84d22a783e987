import { expect, test } from "vitest";
import type { Program, Remark } from "../../src/import/program.ts";
import { type Case, convert } from "../support/conversions.ts";

type Row = [program: Program, value: unknown, remarks: readonly string[], context?: Case["context"]];

function whole({ kind, key, message, next }: Remark): string {
  return `${kind} ${key}: ${message}${next === undefined ? "" : ` → ${next}`}`;
}

function expectRemarks(program: Program, value: unknown, remarks: readonly string[], context?: Case["context"]): void {
  const conversion = convert({ program, value, ...(context && { context }) });
  expect(conversion.remarks.map(whole)).toEqual(remarks);
}

const unsupported = "is not a transport that Fairlead supports (stdio, http, sse)";

test.each<Row>([
  ["cursor", 7, ["obstacle : the entry is not a JSON object"]],
  ["cursor", { command: "fairlead", args: ["serve"] }, ["obstacle : the entry starts Fairlead itself"]],
  ["cursor", { args: ["x"] }, ["obstacle : the entry has neither a command nor a URL"]],
  ["cursor", { type: "sse" }, ["obstacle : the entry has no URL"]],
  ["cursor", { type: "stdio" }, ["obstacle command: is missing"]],
  ["cursor", { command: "x", url: "http://x" }, ["obstacle : the entry has both a command and a URL"]],
  ["cursor", { command: "x", httpUrl: "http://x" }, ["obstacle : the entry has both a command and a URL"]],
  [
    "windsurf",
    { url: "http://x", serverUrl: "http://y", httpUrl: "http://z" },
    ["obstacle : the entry has several addresses: url, serverUrl, httpUrl"],
  ],
  ["cursor", { type: "ws", url: "ws://x" }, [`obstacle type: ${unsupported}`]],
  ["cursor", { transport: 7, url: "http://x" }, [`obstacle transport: ${unsupported}`]],
  ["cursor", { transportType: "pipe", command: "x" }, [`obstacle transportType: ${unsupported}`]],
  ["cursor", { command: ["npx"] }, ["obstacle command: is not a string"]],
  ["cursor", { command: "x", args: "a" }, ["obstacle args: is not a list"]],
  ["cursor", { command: "x", args: [null] }, ["obstacle args[0]: is not a string"]],
  ["cursor", { command: "x", env: [] }, ["obstacle env: is not an object"]],
  ["cursor", { command: "x", env: { A: {} } }, ["obstacle env.A: is not a string"]],
  ["cursor", { command: "x", disabledTools: ["a", 1] }, ["obstacle disabledTools: is not a list of names"]],
  ["codex", { command: "x", env_vars: "A" }, ["obstacle env_vars: is not a list"]],
  [
    "codex",
    { command: "x", env_vars: ["A-B", { name: 1 }] },
    [0, 1].map(
      (at) => `obstacle env_vars[${at}]: contains no valid variable name (letters, digits and underscores only)`,
    ),
  ],
  ["cursor", { url: "h" }, ["obstacle url: is not an http:// or https:// address"]],
  ["cursor", { url: "ftp://h/" }, ["obstacle url: is not an http:// or https:// address"]],
  [
    "cursor",
    { command: "x", env: { "A=B": "1" } },
    ['obstacle env.A=B: "A=B" cannot be the name of an environment variable'],
  ],
  ["cursor", { command: " " }, ['obstacle : "command" is empty']],
  [
    "vscode",
    { command: "x", cwd: "/${input:dir}" },
    [
      "converted cwd: ${input:dir} becomes ${secret:dir}",
      "hint cwd: VS Code asks for this value; Fairlead uses the stored secret dir instead. If a secret with that name is already stored, this server will get that secret → fairlead secret set dir",
      "obstacle cwd: uses the secret dir; a command and its folder are shown and approved, so they must not contain a secret",
    ],
  ],
])("what cannot be imported is explained: %s %j", expectRemarks);

const approvals = "Fairlead asks before a tool runs, even if another program does not";
const noSetting = "Fairlead has no such setting";
const ofCommand = "has no effect on a server that is started by a command";
const ofUrl = "has no effect on a server that is reached by its URL";
const connectTimeout = "Fairlead has one connect timeout for all servers: fairlead.connectTimeout, in milliseconds";

test.each<Row>([
  [
    "cursor",
    { command: "x", trust: true, tools: {}, alwaysAllow: [], autoApprove: [], default_tools_approval_mode: "x" },
    ["trust", "tools", "alwaysAllow", "autoApprove", "default_tools_approval_mode"].map(
      (key) => `dropped ${key}: ${approvals}`,
    ),
  ],
  [
    "cursor",
    { command: "x", timeout: 60, startup_timeout_sec: 1, startup_timeout_ms: 1, gallery: true },
    [
      'dropped timeout: the other program does not document its unit (seconds or milliseconds); Fairlead\'s "timeout" is in milliseconds',
      `dropped startup_timeout_sec: ${connectTimeout}`,
      `dropped startup_timeout_ms: ${connectTimeout}`,
      `dropped gallery: ${noSetting}`,
    ],
  ],
  [
    "cursor",
    { type: "stdio", command: "x", url: "http://h", headers: {}, oauth: {}, auth: {}, scopes: [] },
    ["url", "headers", "oauth", "auth", "scopes"].map((key) => `dropped ${key}: ${ofCommand}`),
  ],
  [
    "cursor",
    { type: "http", url: "http://h", command: "x", args: [], env: {}, cwd: "/", envFile: "x", env_vars: [] },
    ["command", "args", "env", "cwd", "envFile", "env_vars"].map((key) => `dropped ${key}: ${ofUrl}`),
  ],
  ["cursor", { command: "x", env_vars: ["A"] }, [`dropped env_vars: ${noSetting}`]],
  [
    "cursor",
    { type: "sse", transport: "http", transportType: "stdio", url: "http://h" },
    [`dropped transport: ${noSetting}`, `dropped transportType: ${noSetting}`],
  ],
  [
    "claude-code",
    { url: "http://h", headersHelper: "x" },
    [
      "dropped headersHelper: Fairlead runs no program to get headers; write them in the entry, with ${NAME} or ${secret:NAME} for secrets",
    ],
  ],
  [
    "cursor",
    { url: "http://h", auth: { CLIENT_ID: 7, CLIENT_SECRET: "s", scopes: [1, ""], port: "1" }, oauth: {} },
    [
      `dropped auth.CLIENT_ID: ${noSetting}`,
      `dropped auth.scopes: ${noSetting}`,
      `dropped auth.port: ${noSetting}`,
      `dropped oauth: ${noSetting}`,
    ],
  ],
  [
    "vscode",
    { command: "x", envFile: 7, env: { A: null } },
    [
      "dropped env.A: the value is null; Fairlead can set a value, but cannot remove one",
      "dropped envFile: is not a string",
    ],
  ],
  [
    "codex",
    { command: "x", name: "X", tool_timeout_sec: 0, env_vars: [{ name: "A", source: "remote" }] },
    [
      "dropped env_vars[0]: comes from a remote environment, which Fairlead cannot read",
      "dropped tool_timeout_sec: is not a positive number",
    ],
  ],
])("what is left out is explained: %s %j", expectRemarks);

const app = { folder: "/work/app", root: "/work/app" };
const elsewhere =
  'is relative to /work/app, but Fairlead starts the server in another folder: add "cwd", or write an absolute path';

test.each<Row>([
  [
    "cursor",
    { command: "x", args: ["${userHome}", "${env:A}", "${env:A-B}", "${nothing}", "${cwd}"] },
    [
      "converted args[0]: ${userHome} becomes ${HOME}",
      "converted args[1]: ${env:A} becomes ${A}",
      "obstacle args[2]: ${env:A-B} contains no valid variable name (letters, digits and underscores only)",
      "converted args[3]: Cursor does not expand ${nothing}, so it stays plain text: $${nothing}",
      "obstacle args[4]: ${cwd} is a reference that Fairlead does not support: write the value itself, or an environment variable",
    ],
  ],
  [
    "claude-code",
    { command: "x", args: ["${A:-${B}"] },
    ["obstacle args[0]: ${A:-${B} has a default value with a variable, which Fairlead does not expand"],
  ],
  ["vscode", { command: "x", env: { A: "${input:}" } }, ["obstacle env.A: ${input:} has no name"]],
  [
    "vscode",
    { command: "x", env: { A: "${input:-a b}" } },
    [
      "converted env.A: ${input:-a b} becomes ${secret:_-a_b}",
      "hint env.A: VS Code asks for this value; Fairlead uses the stored secret _-a_b instead. If a secret with that name is already stored, this server will get that secret → fairlead secret set _-a_b",
    ],
  ],
  [
    "windsurf",
    { command: "x", enabled: false },
    [
      "converted enabled: the other program has disabled the server, so Fairlead imports it as disabled; to enable it: fairlead mcp enable NAME",
    ],
  ],
  [
    "codex",
    { command: "x", env_vars: ["A", { name: "B" }], tool_timeout_sec: 2 },
    [
      "converted env_vars[0]: the entry refers to the variable A as ${A}",
      "converted env_vars[1]: the entry refers to the variable B as ${B}",
      "converted tool_timeout_sec: becomes timeout, in milliseconds: 2000",
    ],
  ],
  [
    "cursor",
    { command: "bin/x", args: [".", "..", "./a", "..\\a", ".a", "a/b"] },
    [
      "converted command: is a path relative to the project folder, so it becomes /work/app/bin/x",
      ...[0, 1, 2, 3].map((at) => `hint args[${at}]: ${elsewhere} → fairlead mcp import -s project`),
    ],
    app,
  ],
  ["cursor", { command: "x", args: ["./a"] }, [`hint args[0]: ${elsewhere}`], { ...app, root: "/work" }],
  ["cursor", { command: "x", args: ["./a"] }, [], { ...app, target: "workspace" }],
  ["cursor", { command: "x", args: ["./a"] }, []],
  [
    "cursor",
    { command: "x", args: ["./a"], cwd: "sub" },
    ["converted cwd: is a path relative to the project folder, so it becomes /work/app/sub"],
    app,
  ],
  ["claude-code", { command: "${BIN}/x", cwd: "~/x" }, [], app],
  [
    "claude-code",
    { command: "$BIN/x" },
    ["converted command: is a path relative to the project folder, so it becomes /work/app/$$BIN/x"],
    app,
  ],
  ["cursor", { command: "bin\\x" }, [], app],
  [
    "cursor",
    { command: "bin\\x", cwd: "D:\\x" },
    ["converted command: is a path relative to the project folder, so it becomes C:\\app\\bin\\x"],
    { folder: "C:\\app", root: "C:\\app", platform: "win32" },
  ],
])("what changes on the way is explained: %s %j", expectRemarks);
