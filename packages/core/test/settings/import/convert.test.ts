import { describe, expect, test } from "vitest";
import { type Conversion, convertServer } from "../../../src/settings/import/convert.ts";
import type { ConversionContext } from "../../../src/settings/import/draft.ts";
import type { Program, Remark } from "../../../src/settings/import/program.ts";

interface Case {
  readonly title: string;
  readonly program: Program;
  readonly value: unknown;
  readonly context?: Partial<ConversionContext>;
  readonly entry: object;
  readonly enabled?: boolean;
  /** `kind key`, in order. */
  readonly remarks?: readonly string[];
}

const context = { platform: "linux", root: "/work/app", target: "user", inputs: new Map() } as const;

function convert({ program, value, context: more }: Pick<Case, "program" | "value" | "context">): Conversion {
  return convertServer({ name: "it", value, disabled: false }, { ...context, program, ...more });
}

function short({ kind, key }: Remark): string {
  return `${kind} ${key}`;
}

const cases: readonly Case[] = [
  {
    title: "a plain server is carried over as it is",
    program: "claude-desktop",
    value: { command: "npx", args: ["-y", "server"], env: { MODE: "fast" } },
    entry: { command: "npx", args: ["-y", "server"], env: { MODE: "fast" } },
  },
  {
    title: "Claude Desktop expands nothing: every dollar sign stays one",
    program: "claude-desktop",
    value: { command: "run", args: ["$HOME/x", "${API}", "5$", "a$$b"], env: { COST: "$5" } },
    entry: { command: "run", args: ["$$HOME/x", "$${API}", "5$$", "a$$$$b"], env: { COST: "$$5" } },
    remarks: ["converted args[1]"],
  },
  {
    title: "Claude Code's references mean the same here, its bare dollar signs do not",
    program: "claude-code",
    value: {
      type: "stdio",
      command: "${BIN:-node}",
      args: ["${ROOT}/x.js", "$HOME", "${not a name}", "${A:-$5}"],
      env: { KEY: "${KEY}" },
      timeout: 5000,
    },
    entry: {
      command: "${BIN:-node}",
      args: ["${ROOT}/x.js", "$$HOME", "$${not a name}", "${A:-$5}"],
      env: { KEY: "${KEY}" },
      timeout: 5000,
    },
    remarks: ["converted args[2]"],
  },
  {
    title: "a variable in a default has no counterpart",
    program: "claude-code",
    value: { command: "node", args: ["${A:-${B}}"] },
    entry: { command: "node", args: ["$${A:-$${B}}"] },
    remarks: ["obstacle args[0]"],
  },
  {
    title: "Claude Code's http is streamable HTTP, its client is kept, its helper is not",
    program: "claude-code",
    value: {
      type: "http",
      url: "https://example.com/mcp",
      headers: { "X-Team": "${TEAM}" },
      headersHelper: "./headers.sh",
      oauth: { clientId: "abc", callbackPort: 8080, scopes: "read write" },
    },
    entry: {
      url: "https://example.com/mcp",
      type: "http",
      headers: { "X-Team": "${TEAM}" },
      oauth: { clientId: "abc", scopes: ["read", "write"] },
    },
    remarks: ["dropped oauth.callbackPort", "dropped headersHelper"],
  },
  {
    title: "sse stays sse",
    program: "claude-code",
    value: { type: "sse", url: "https://example.com/sse" },
    entry: { url: "https://example.com/sse", type: "sse" },
  },
  {
    title: "streamable-http is http",
    program: "claude-code",
    value: { type: "streamable-http", url: "https://example.com/mcp" },
    entry: { url: "https://example.com/mcp", type: "http" },
  },
  {
    title: "a bare URL is tried both ways",
    program: "claude-desktop",
    value: { url: "https://example.com/mcp" },
    entry: { url: "https://example.com/mcp" },
  },
  {
    title: "Cursor's references become ours",
    program: "cursor",
    value: {
      command: "${userHome}/bin/server",
      args: ["${workspaceFolder}${/}data", "--sep=${pathSeparator}", "${API_KEY}", "$5"],
      env: { KEY: "${env:API_KEY}" },
    },
    entry: {
      command: "${HOME}/bin/server",
      args: ["${PWD}/data", "--sep=/", "$${API_KEY}", "$$5"],
      env: { KEY: "${API_KEY}" },
    },
    remarks: [
      "converted command",
      "converted args[0]",
      "converted args[0]",
      "converted args[1]",
      "converted args[2]",
      "converted env.KEY",
    ],
  },
  {
    title: "on Windows, home and separator are Windows' own",
    program: "cursor",
    context: { platform: "win32", root: "C:\\app" },
    value: { command: "${userHome}${/}server.exe" },
    entry: { command: "${USERPROFILE}\\server.exe" },
    remarks: ["converted command", "converted command"],
  },
  {
    title: "Cursor's client is kept, with its variables",
    program: "cursor",
    value: { url: "https://example.com/mcp", auth: { CLIENT_ID: "${env:ID}", CLIENT_SECRET: "s", scopes: ["read"] } },
    entry: { url: "https://example.com/mcp", oauth: { clientId: "${ID}", clientSecret: "s", scopes: ["read"] } },
    remarks: ["converted auth.CLIENT_ID"],
  },
  {
    title: "what Cursor knows and we do not is in the way",
    program: "cursor",
    value: { command: "run", args: ["${workspaceFolderBasename}"] },
    entry: { command: "run", args: ["$${workspaceFolderBasename}"] },
    remarks: ["obstacle args[0]"],
  },
  {
    title: "VS Code's inputs become stored secrets",
    program: "vscode",
    context: { inputs: new Map([["api key", "The key of the API"]]) },
    value: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer ${input:api key}" } },
    entry: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${secret:api_key}" } },
    remarks: ["converted headers.Authorization", "hint headers.Authorization"],
  },
  {
    title: "a secret cannot be part of a command",
    program: "vscode",
    value: { command: "${input:bin}" },
    entry: { command: "${secret:bin}" },
    remarks: ["converted command", "hint command", "obstacle command"],
  },
  {
    title: "VS Code's commands and settings are in the way, its own keys are dropped",
    program: "vscode",
    value: { command: "run", args: ["${config:x.y}", "${command:pick}"], dev: { watch: "*" }, gallery: true },
    entry: { command: "run", args: ["$${config:x.y}", "$${command:pick}"] },
    remarks: ["obstacle args[0]", "obstacle args[1]", "dropped dev", "dropped gallery"],
  },
  {
    title: "VS Code's numbers become text, and null takes nothing away",
    program: "vscode",
    value: { command: "run", env: { PORT: 8080, GONE: null, FLAG: true } },
    entry: { command: "run", env: { PORT: "8080", FLAG: "true" } },
    remarks: ["dropped env.GONE"],
  },
  {
    title: "Windsurf's serverUrl is a url, its disabled servers stay disabled",
    program: "windsurf",
    value: {
      serverUrl: "https://${env:HOST}/mcp",
      headers: { Key: "${env:KEY}" },
      disabled: true,
      disabledTools: ["drop"],
      alwaysAllow: ["read"],
    },
    entry: { url: "https://${HOST}/mcp", headers: { Key: "${KEY}" }, excludeTools: ["drop"] },
    enabled: false,
    remarks: ["converted serverUrl", "converted headers.Key", "converted enabled", "dropped alwaysAllow"],
  },
  {
    title: "the contents of a file are not read into the settings",
    program: "windsurf",
    value: { command: "run", env: { KEY: "${file:/etc/key}" } },
    entry: { command: "run", env: { KEY: "$${file:/etc/key}" } },
    remarks: ["obstacle env.KEY"],
  },
  {
    title: "Codex over stdio: variables by name, seconds, filters",
    program: "codex",
    value: {
      command: "docs",
      args: ["--price", "$5"],
      env: { MODE: "$x" },
      env_vars: ["TOKEN", { name: "OTHER", source: "local" }, { name: "FAR", source: "remote" }],
      cwd: "/srv",
      enabled: false,
      startup_timeout_sec: 20,
      tool_timeout_sec: 1.5,
      enabled_tools: ["a", "b"],
      disabled_tools: ["b"],
      default_tools_approval_mode: "approve",
    },
    entry: {
      command: "docs",
      args: ["--price", "$$5"],
      env: { MODE: "$$x", TOKEN: "${TOKEN}", OTHER: "${OTHER}" },
      cwd: "/srv",
      timeout: 1500,
      includeTools: ["a", "b"],
      excludeTools: ["b"],
    },
    enabled: false,
    remarks: [
      "converted env_vars[0]",
      "converted env_vars[1]",
      "dropped env_vars[2]",
      "converted tool_timeout_sec",
      "converted enabled",
      "dropped startup_timeout_sec",
      "dropped default_tools_approval_mode",
    ],
  },
  {
    title: "Codex over HTTP: headers literal, from variables, and the bearer token",
    program: "codex",
    value: {
      url: "https://example.com/mcp",
      http_headers: { "X-Price": "$5" },
      env_http_headers: { "X-Team": "TEAM" },
      bearer_token_env_var: "TOKEN",
      scopes: ["read"],
      oauth: { client_id: "abc" },
      oauth_resource: "https://example.com",
    },
    entry: {
      url: "https://example.com/mcp",
      type: "http",
      oauth: { clientId: "abc", scopes: ["read"] },
      headers: { "X-Price": "$$5", "X-Team": "${TEAM}", Authorization: "Bearer ${TOKEN}" },
    },
    remarks: ["converted env_http_headers.X-Team", "converted bearer_token_env_var", "dropped oauth_resource"],
  },
  {
    title: "a variable that cannot be named here is in the way",
    program: "codex",
    value: { url: "https://example.com/mcp", bearer_token_env_var: "MY-TOKEN" },
    entry: { url: "https://example.com/mcp", type: "http" },
    remarks: ["obstacle bearer_token_env_var"],
  },
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
    title: "an address that is none",
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
];

describe("a server of another program becomes an entry", () => {
  test.each(cases)("$program: $title", ({ entry, enabled = true, remarks = [], ...input }) => {
    const conversion = convert(input);
    expect({ entry: conversion.entry, enabled: conversion.enabled, remarks: conversion.remarks.map(short) }).toEqual({
      entry,
      enabled,
      remarks,
    });
  });
});

test("a remark says what became of a reference, and what to type", () => {
  const inputs = new Map([["key", "The key"]]);
  const { remarks } = convert({
    program: "vscode",
    value: { command: "x", env: { KEY: "${input:key}" } },
    context: { inputs },
  });
  expect(remarks).toEqual([
    { kind: "converted", key: "env.KEY", message: "${input:key} becomes ${secret:key}" },
    {
      kind: "hint",
      key: "env.KEY",
      message:
        'VS Code asks for it ("The key"); here it is the stored secret key. A secret already stored under that name will be given to this server',
      next: "fairlead secret set key",
    },
  ]);
});

test("a name that the settings refuse is refused", () => {
  const server = { name: "", value: { command: "x" }, disabled: false };
  expect(convertServer(server, { ...context, program: "cursor" }).remarks.map(short)).toEqual(["obstacle "]);
});

test("keys that are special elsewhere are only keys here", () => {
  const text = '{"command":"run","env":{"__proto__":"x","constructor":"y"}}';
  const { entry, remarks } = convert({
    program: "cursor",
    value: JSON.parse(`${text.slice(0, -1)},"__proto__":{"trust":true}}`),
  });
  expect(JSON.stringify(entry)).toBe(text);
  expect(remarks.map(short)).toEqual(["dropped __proto__"]);
});

test("a server called __proto__ is converted like any other", () => {
  const server = { name: "__proto__", value: { command: "x" }, disabled: false };
  expect(convertServer(server, { ...context, program: "cursor" })).toEqual({
    entry: { command: "x" },
    enabled: true,
    remarks: [],
  });
});

test("what its file says about a server outside its entry counts too", () => {
  const server = { name: "it", value: { command: "x" }, disabled: true };
  expect(convertServer(server, { ...context, program: "claude-code" }).enabled).toBe(false);
});

test("envFile is handed on, unread", () => {
  expect(convert({ program: "vscode", value: { command: "x", envFile: "${workspaceFolder}/.env" } })).toEqual({
    entry: { command: "x" },
    enabled: true,
    envFile: "${workspaceFolder}/.env",
    remarks: [],
  });
});
