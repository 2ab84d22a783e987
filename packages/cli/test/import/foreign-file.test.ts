import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { clients } from "../../src/clients/client.ts";
import { detectProgram, type ForeignFile, readForeignFile } from "../../src/import/foreign-file.ts";
import type { Program } from "../../src/import/program.ts";

async function read(program: Program, content: string | object, folders: readonly string[] = []): Promise<ForeignFile> {
  await using folder = await temporaryFolder();
  return await readForeignFile({ program, file: await folder.write("file", content) }, folders);
}

describe("a file is read into servers", () => {
  test.each([
    ["claude-desktop", '\uFEFF{ // a comment\n "mcpServers": { "a": { "command": "x" }, } }'],
    ["cursor", { mcpServers: { a: { command: "x" } } }],
    ["windsurf", { mcpServers: { a: { command: "x" } } }],
    ["vscode", { servers: { a: { command: "x" } } }],
    ["vscode", { mcp: { servers: { a: { command: "x" } } } }],
    ["codex", '\uFEFFmodel = "m"\n[mcp_servers.a]\ncommand = "x"\n'],
    ["vscode", { servers: { a: { command: "x" } }, mcp: { servers: { b: {} } } }],
    ["zed", { context_servers: { a: { source: "custom", command: "x" } } }],
    ["zed", { context_servers: { a: { command: { path: "x" } } } }],
    ["opencode", { mcp: { a: { type: "local", command: ["x"] } } }],
    ["antigravity", { mcpServers: { a: { command: "x" } } }],
    ["copilot-cli", '// mine\n{ "mcpServers": { "a": { "command": "x", "tools": ["*"] } } }'],
    ["kiro", { mcpServers: { a: { command: "x" } } }],
    ["cline", { mcpServers: { a: { command: "x" } } }],
    ["kilo", { mcp: { a: { type: "local", command: ["x"] } } }],
    [
      "goose",
      "\uFEFFextensions:\n  a: # mine\n    name: a\n    cmd: x\n  b:\n    type: builtin\n  c: { type: platform }\n",
    ],
    ["grok", '[mcp_servers.a]\ncommand = "x"\n'],
    ["kimi", { mcpServers: { a: { command: "x" } } }],
    ["mcporter", { mcpServers: { a: { command: ["x"] } }, imports: [] }],
    ["pi", { mcpServers: { a: { command: "x" } }, settings: {} }],
  ] as const)("%s", async (program, content) => {
    expect(await read(program, content)).toEqual({
      kind: "read",
      servers: [{ name: "a", value: { command: "x" }, disabled: false }],
      inputs: new Map(),
    });
  });

  test("Claude Code: the user's servers and those kept for this project, of no other", async () => {
    const content = {
      mcpServers: { a: { command: "x" } },
      projects: {
        "/app": { mcpServers: { b: { command: "y" }, c: { command: "z" } }, disabledMcpServers: ["c", 7] },
        "/other": { mcpServers: { d: { command: "w" } } },
        "/odd": 7,
      },
    };
    expect(await read("claude-code", content, ["/app", "/odd", "/none"])).toEqual({
      kind: "read",
      servers: [
        { name: "a", value: { command: "x" }, disabled: false },
        { name: "b", value: { command: "y" }, disabled: false, folder: "/app" },
        { name: "c", value: { command: "z" }, disabled: true, folder: "/app" },
      ],
      inputs: new Map(),
    });
  });

  test("VS Code's inputs are known by their descriptions; what is no input is passed over", async () => {
    const file = await read("vscode", {
      servers: {},
      inputs: [{ id: "a", description: "A" }, { id: "b" }, { id: 3 }, null, "x"],
    });
    expect(file).toEqual({
      kind: "read",
      servers: [],
      inputs: new Map([
        ["a", "A"],
        ["b", ""],
      ]),
    });
  });

  test("Claude Code: a project's folder may be written with slashes instead of backslashes", async () => {
    const content = { projects: { "C:/work/app": { mcpServers: { a: { command: "x" } } } } };
    expect(await read("claude-code", content, ["C:\\work\\app"])).toMatchObject({
      servers: [{ name: "a", disabled: false, folder: "C:\\work\\app" }],
    });
    expect(await read("cursor", content, ["C:/work/app"])).toMatchObject({ servers: [] });
  });

  test.each([
    [
      { command: ["x", "a"], environment: { K: "{env:V}" } },
      { command: "x", args: ["a"], env: { K: "${env:V}" } },
    ],
    [
      { type: "remote", url: "https://{file:h}/{env:P}", on: [true] },
      { url: "https://${file:h}/${env:P}", on: [true] },
    ],
    [
      { type: "pipe", command: "x" },
      { type: "pipe", command: "x" },
    ],
    ["x", "x"],
  ])("opencode: %j", async (entry, value) => {
    expect(await read("opencode", { mcp: { a: entry } })).toMatchObject({ servers: [{ name: "a", value }] });
  });

  test.each([
    [
      { command: { path: "x", args: ["a"], env: { K: "v" } }, enabled: false },
      { command: "x", args: ["a"], env: { K: "v" }, enabled: false },
    ],
    [{ source: "custom", url: "https://h" }, { url: "https://h" }],
    [
      { command: "x", args: ["{env:A}"] },
      { command: "x", args: ["{env:A}"] },
    ],
  ])("Zed: %j", async (entry, value) => {
    const file = await read("zed", { context_servers: { a: entry } });
    expect(file.kind === "read" && file.servers.map((server) => server.value)).toEqual([value]);
  });

  test.each([
    ["claude-desktop", '{"mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"y"}}}'],
    ["codex", '[mcp_servers.__proto__]\ncommand = "x"\n[mcp_servers.constructor]\ncommand = "y"\n'],
  ] as const)("%s: a server may be called __proto__", async (program, content) => {
    const file = await read(program, content);
    expect(file.kind === "read" && file.servers.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
  });
});

describe("a file that cannot be used says why", () => {
  test.each([
    ["cursor", '{\n  "mcpServers": {,}\n}', { line: 2, column: 18, message: "a value is missing" }],
    ["cursor", '{"mcpServers": {"a": ', { line: 1, column: 22 }],
    ["codex", '[mcp_servers.a]\ncommand = "x\n', { line: 2 }],
    ["codex", "a = [[[[".repeat(1000), { line: 1 }],
    ["cursor", "[".repeat(100_000), { line: 1, column: 65 }],
    ["cursor", "[]", { message: "the file does not contain an object" }],
    ["cursor", '{"mcpServers": []}', { message: '"mcpServers" is not an object' }],
    ["codex", "mcp_servers = 3", { message: '"mcp_servers" is not an object' }],
    ["codex", "mcp_servers = 1979-05-27", { message: '"mcp_servers" is not an object' }],
    ["codex", "a = ?\nb = 1", { line: 1, column: 5, message: expect.not.stringContaining("\n") }],
  ] as const)("%s: %.20s", async (program, content, expected) => {
    expect(await read(program, content)).toMatchObject({ kind: "broken", ...expected });
  });

  test("nothing there", async () => {
    expect(await readForeignFile({ program: "cursor", file: "/nowhere/mcp.json" }, [])).toEqual({ kind: "absent" });
  });

  test("a folder, and a pipe without a writer", async () => {
    await using folder = await temporaryFolder();
    const pipe = join(folder.path, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const file of [folder.path, pipe])
      expect(await readForeignFile({ program: "cursor", file }, [])).toMatchObject({ kind: "broken" });
  });

  test("an empty file has no servers", async () => {
    expect(await read("cursor", "")).toEqual({ kind: "read", servers: [], inputs: new Map() });
  });
});

describe("the program is recognised", () => {
  test.each([
    ["claude_desktop_config.json", {}, "claude-desktop"],
    [".claude.json", {}, "claude-code"],
    [".mcp.json", {}, "claude-code"],
    [".cursor/mcp.json", {}, "cursor"],
    [".vscode/mcp.json", {}, "vscode"],
    ["mcp_config.json", {}, "windsurf"],
    [".gemini/config/mcp_config.json", {}, "antigravity"],
    [".gemini/antigravity/mcp_config.json", {}, "antigravity"],
    [".gemini/antigravity-cli/mcp_config.json", {}, "antigravity"],
    [".agents/mcp_config.json", {}, "antigravity"],
    ["_agent/mcp_config.json", {}, "antigravity"],
    [".copilot/mcp-config.json", {}, "copilot-cli"],
    [".github/mcp.json", {}, "copilot-cli"],
    [".kiro/settings/mcp.json", {}, "kiro"],
    ["globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", {}, "cline"],
    [".cline/data/settings/cline_mcp_settings.json", {}, "cline-cli"],
    ["kilo.json", {}, "kilo"],
    ["kilo.jsonc", {}, "kilo"],
    ["goose/config.yaml", "", "goose"],
    [".grok/config.toml", "", "grok"],
    [".kimi-code/mcp.json", {}, "kimi"],
    ["config/mcporter.json", {}, "mcporter"],
    [".pi/agent/mcp.json", {}, "pi"],
    [".pi/mcp.json", {}, "pi"],
    ["config.toml", "", "codex"],
    ["any.json", { servers: {} }, "vscode"],
    ["any.json", { mcp: { servers: {} } }, "vscode"],
    ["any.json", { mcpServers: { a: { serverUrl: "https://x" } } }, "windsurf"],
    ["any.json", { mcpServers: { a: { command: "${userHome}/x" } } }, "cursor"],
    ["any.json", { mcpServers: { a: { command: "x" } } }, "claude-code"],
    [".vscode/settings.json", {}, "vscode"],
    ["any.json", { mcpServers: { a: { url: "${server}" } }, context_servers: {} }, "zed"],
    ["any.json", { mcpServers: { a: { command: "the serverUrl" } } }, "claude-code"],
    ["any.json", { mcpServers: {}, servers: {} }, "vscode"],
    ["User/mcp.json", {}, "vscode"],
    ["zed/settings.json", {}, "zed"],
    ["opencode.json", {}, "opencode"],
    ["opencode.jsonc", {}, "opencode"],
    ["any.json", { context_servers: {} }, "zed"],
    ["any.json", { mcpServers: { a: { command: "${file:x}" } } }, "windsurf"],
    ["any.json", { mcpServers: { a: { command: "${env:X}" } } }, "cursor"],
    ["any.json", { mcpServers: { a: { command: "${workspaceFolder}" } } }, "cursor"],
    ["any.json", { mcp: { other: 1 } }, undefined],
    ["any.json", { other: 1 }, undefined],
    ["any.json", "not json", undefined],
    ["any.json", "[]", undefined],
  ] as const)("%s %j: %s", async (name, content, program) => {
    await using folder = await temporaryFolder();
    expect(await detectProgram(await folder.write(name, content))).toBe(program);
  });
});

describe("entries in a form of their own", () => {
  test.each<[Program, unknown, object]>([
    [
      "antigravity",
      { serverUrl: "https://x", url: "https://y", command: "z", env: { A: "1" } },
      { serverUrl: "https://x" },
    ],
    ["antigravity", { url: "https://y", type: "http" }, { url: "https://y", type: "http" }],
    [
      "copilot-cli",
      { type: "local", command: "x", tools: ["a"] },
      { type: "stdio", command: "x", includeTools: ["a"] },
    ],
    ["copilot-cli", { type: "http", url: "https://x", tools: ["*"] }, { type: "http", url: "https://x" }],
    ["cline", { url: "https://x" }, { type: "sse", url: "https://x" }],
    ["cline", { url: "https://x", type: "streamableHttp" }, { type: "streamableHttp", url: "https://x" }],
    [
      "cline-cli",
      { transport: { type: "stdio", command: "x", args: ["y"] }, disabled: true },
      { type: "stdio", command: "x", args: ["y"], disabled: true },
    ],
    ["cline-cli", { transport: { url: "https://x", type: "sse" } }, { type: "sse", url: "https://x" }],
    [
      "kilo",
      { type: "remote", url: "{env:U}", headers: { A: "{file:x}" } },
      { url: "${env:U}", headers: { A: "${file:x}" } },
    ],
    ["mcporter", { base_url: "https://x", bearer_token: "$env:T" }, { url: "https://x", bearerToken: "${T}" }],
    ["mcporter", { command: ["x", "y"], env: { A: "$env:B" } }, { command: "x", args: ["y"], env: { A: "${B}" } }],
    ["pi", { command: "x", env: { A: "{env:B}", C: "${env:D}" } }, { command: "x", env: { A: "${B}", C: "${env:D}" } }],
  ])("%s: %j", async (program, entry, value) => {
    expect(await read(program, { [clients[program].key]: { a: entry } })).toMatchObject({
      servers: [{ name: "a", value }],
    });
  });

  test("a YAML file with a mistake is broken, with the place", async () => {
    expect(await read("goose", "a: 1\nextensions: [\n")).toMatchObject({ kind: "broken", line: 3, column: 1 });
    expect(await read("goose", "- a\n")).toMatchObject({ kind: "broken", line: 1, column: 1 });
    expect(await read("goose", "extensions: 7\n")).toEqual({
      kind: "broken",
      message: '"extensions" is not an object',
    });
  });
});
