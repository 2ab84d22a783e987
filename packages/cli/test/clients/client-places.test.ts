import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { clientNames } from "../../src/clients/client.ts";
import { clientFile, isInstalled } from "../../src/clients/client-places.ts";

interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env?: Record<string, string>;
}

const filesOn = async ({ platform, home, env = {} }: Machine) =>
  Object.fromEntries(
    await Promise.all(
      clientNames.map(async (client) => [client, await clientFile(client, { platform, home, env })] as const),
    ),
  );

test.each<{ title: string; machine: Machine; files: Record<string, string> }>([
  {
    title: "Linux",
    machine: { platform: "linux", home: "/nowhere/me" },
    files: {
      "claude-code": "/nowhere/me/.claude.json",
      "claude-desktop": "/nowhere/me/.config/Claude/claude_desktop_config.json",
      codex: "/nowhere/me/.codex/config.toml",
      gemini: "/nowhere/me/.gemini/settings.json",
      cursor: "/nowhere/me/.cursor/mcp.json",
      vscode: "/nowhere/me/.config/Code/User/mcp.json",
      windsurf: "/nowhere/me/.codeium/windsurf/mcp_config.json",
      zed: "/nowhere/me/.config/zed/settings.json",
      opencode: "/nowhere/me/.config/opencode/opencode.json",
    },
  },
  {
    title: "macOS",
    machine: { platform: "darwin", home: "/nowhere/me" },
    files: {
      "claude-code": "/nowhere/me/.claude.json",
      "claude-desktop": "/nowhere/me/Library/Application Support/Claude/claude_desktop_config.json",
      codex: "/nowhere/me/.codex/config.toml",
      gemini: "/nowhere/me/.gemini/settings.json",
      cursor: "/nowhere/me/.cursor/mcp.json",
      vscode: "/nowhere/me/Library/Application Support/Code/User/mcp.json",
      windsurf: "/nowhere/me/.codeium/windsurf/mcp_config.json",
      zed: "/nowhere/me/.config/zed/settings.json",
      opencode: "/nowhere/me/.config/opencode/opencode.json",
    },
  },
  {
    title: "Windows",
    machine: { platform: "win32", home: "C:\\me" },
    files: {
      "claude-code": "C:\\me\\.claude.json",
      "claude-desktop": "C:\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
      codex: "C:\\me\\.codex\\config.toml",
      gemini: "C:\\me\\.gemini\\settings.json",
      cursor: "C:\\me\\.cursor\\mcp.json",
      vscode: "C:\\me\\AppData\\Roaming\\Code\\User\\mcp.json",
      windsurf: "C:\\me\\.codeium\\windsurf\\mcp_config.json",
      zed: "C:\\me\\AppData\\Roaming\\Zed\\settings.json",
      opencode: "C:\\me\\.config\\opencode\\opencode.json",
    },
  },
])("each client's file on $title", async ({ machine, files }) => {
  expect(await filesOn(machine)).toEqual(files);
});

test("variables of Claude Code and Codex move their files", async () => {
  const env = { CLAUDE_CONFIG_DIR: "/nowhere/c", CODEX_HOME: "/nowhere/x" };
  expect(await filesOn({ platform: "linux", home: "/nowhere/me", env })).toMatchObject({
    "claude-code": "/nowhere/c/.claude.json",
    codex: "/nowhere/x/config.toml",
  });
});

test("of opencode's two files, connect edits the one that exists, and the first of both", async () => {
  await using folder = await temporaryFolder();
  const environment = { platform: "linux", home: folder.path, env: {} } as const;
  const json = await folder.write(".config/opencode/opencode.json", "{}");
  expect(await clientFile("opencode", environment)).toBe(json);
  const jsonc = await folder.write(".config/opencode/opencode.jsonc", "{}");
  expect(await clientFile("opencode", environment)).toBe(jsonc);
});

test.each([
  ["claude-code", ".claude.json", true],
  ["claude-code", ".claude/x", true],
  ["claude-desktop", ".config/Claude/x", true],
  ["claude-desktop", ".config/x", false],
  ["codex", ".codex/x", true],
  ["gemini", ".gemini/installation_id", true],
  ["gemini", ".gemini/settings.json", false],
  ["cursor", ".cursor/x", true],
  ["vscode", ".config/Code/User/x", true],
  ["vscode", ".config/Code/x", false],
  ["windsurf", ".codeium/windsurf/x", true],
  ["windsurf", ".codeium/x", false],
  ["zed", ".config/zed/x", true],
  ["opencode", ".config/opencode/x", true],
] as const)("the client %s with the file %s is installed: %s", async (client, file, installed) => {
  await using folder = await temporaryFolder();
  const environment = { platform: "linux", home: folder.path, env: {} } as const;
  expect(await isInstalled(client, environment)).toBe(false);
  await folder.write(file, "");
  expect(await isInstalled(client, environment)).toBe(installed);
});

test("a folder that CLAUDE_CONFIG_DIR names shows that Claude Code is installed", async () => {
  await using folder = await temporaryFolder();
  const env = { CLAUDE_CONFIG_DIR: join(folder.path, "claude") };
  const environment = { platform: "linux", home: folder.path, env } as const;
  expect(await isInstalled("claude-code", environment)).toBe(false);
  await mkdir(env.CLAUDE_CONFIG_DIR);
  expect(await isInstalled("claude-code", environment)).toBe(true);
});

test.each<[string, NodeJS.Platform, string, boolean]>([
  ["bin/cursor", "linux", "/nowhere:BIN", true],
  ["bin/cursor-agent", "linux", "BIN:/nowhere", true],
  ["bin/cursor", "linux", "/nowhere", false],
  ["bin/cursor", "linux", "", false],
  ["bin/cursor.exe", "linux", "BIN", false],
  ["bin/cursor.exe", "win32", "/nowhere;BIN", true],
  ["bin/cursor-agent.cmd", "win32", "BIN", true],
  ["bin/cursor", "win32", "BIN", false],
  ["bin/code", "linux", "BIN", false],
])("with the program %s on %s, Cursor is found in the PATH %s: %s", async (file, platform, path, found) => {
  await using folder = await temporaryFolder();
  const bin = dirname(await folder.write(file, ""));
  const env = { PATH: path.replace("BIN", bin) };
  expect(await isInstalled("cursor", { platform, home: join(folder.path, "home"), env })).toBe(found);
});

test("without a PATH no program is found", async () => {
  expect(await isInstalled("zed", { platform: "linux", home: "/nowhere", env: {} })).toBe(false);
});
