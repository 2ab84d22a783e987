import { expect, test } from "vitest";
import { checkEntry, convertServer } from "../../src/import/convert.ts";
import { type Case, context, convert, expectConversion, short } from "../support/conversions.ts";

const vscodeSandbox = {
  filesystem: { allowWrite: ["${workspaceFolder}/out", "out", "${userHome}/x", "/srv"], denyRead: ["~/.ssh"] },
  network: { allowedDomains: ["example.com"], deniedDomains: ["bad.example.com"] },
};

const cases: readonly Case[] = [
  {
    title: "VS Code's sandbox stays one, in the folder of its project",
    program: "vscode",
    context: { folder: "/work/lib" },
    value: { command: "node", sandboxEnabled: true, sandbox: vscodeSandbox },
    entry: {
      command: "node",
      sandboxEnabled: true,
      sandbox: {
        ...vscodeSandbox,
        filesystem: {
          ...vscodeSandbox.filesystem,
          allowWrite: ["/work/lib/out", "/work/lib/out", "${userHome}/x", "/srv"],
        },
      },
    },
  },
  {
    title: "a sandbox that stays in its project is carried over as it is",
    program: "vscode",
    context: { folder: "/work/app", target: "workspace" },
    value: { command: "node", sandboxEnabled: true, sandbox: { ...vscodeSandbox, other: 1 } },
    entry: { command: "node", sandboxEnabled: true, sandbox: vscodeSandbox },
    remarks: ["dropped sandbox.other"],
  },
  {
    title: "a sandbox whose folders are not known, or that is malformed, is an obstacle",
    program: "vscode",
    value: { command: "node", sandboxEnabled: true, sandbox: { filesystem: { allowWrite: ["out"], denyRead: 1 } } },
    entry: { command: "node", sandboxEnabled: true, sandbox: { filesystem: { allowWrite: ["out"] } } },
    remarks: ["obstacle sandbox.filesystem.allowWrite", "obstacle sandbox.filesystem.denyRead"],
  },
  {
    title: "without its switch, VS Code's sandbox is none",
    program: "vscode",
    value: { command: "node", sandboxEnabled: false, sandbox: vscodeSandbox },
    entry: { command: "node" },
  },
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
    title: "the first key of a transport counts",
    program: "claude-code",
    value: { type: "SSE", transport: "http", url: "https://example.com/mcp" },
    entry: { url: "https://example.com/mcp", type: "sse" },
    remarks: ["dropped transport"],
  },
  ...["http", "streamable-http", "streamable_http", "streamableHttp"].map((transport) => ({
    title: `${transport} is streamable HTTP`,
    program: "claude-code" as const,
    value: { transport, url: "https://example.com/mcp" },
    entry: { url: "https://example.com/mcp", type: "http" },
  })),
  {
    title: "a description is kept if it is a text",
    program: "cursor",
    value: { command: "x", description: "Searches files" },
    entry: { command: "x", description: "Searches files" },
  },
  {
    title: "a description that is no text is left out",
    program: "cursor",
    value: { command: "x", description: ["Searches files"] },
    entry: { command: "x" },
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
];

test.each(cases)("a server of another program becomes an entry: $program: $title", expectConversion);

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
        'VS Code asks for this value ("The key"); Fairlead uses the stored secret key instead. If a secret with that name is already stored, this server will get that secret',
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

test("every mistake of an entry is listed, those of the whole entry first", () => {
  const list = (entry: Readonly<Record<string, unknown>>): readonly string[] =>
    checkEntry("it", entry).map(({ kind, key, message }) => `${kind} ${key}: ${message}`);
  expect(list({ command: "x", args: ["${A"], cwd: "/${secret:S}", timeout: 0 })).toEqual([
    'obstacle timeout: "timeout" is 0; it must be between 1 and 2147483647',
    'obstacle args[0]: cannot be expanded: "${A" has no closing "}"',
    "obstacle cwd: uses the secret S; a command and its folder are shown and approved, so they must not contain a secret",
  ]);
  expect(list({ url: "ftp://h", command: " ", timeout: "1" })).toEqual([
    "obstacle : the entry has command and url; it must have exactly one of them",
    'obstacle timeout: "timeout" must be a number, not text',
    "obstacle url: is not an http:// or https:// address",
  ]);
  expect(list({ url: "ftp://${HOST}/" })).toEqual([]);
});
