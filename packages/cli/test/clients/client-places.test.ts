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
      antigravity: "/nowhere/me/.gemini/config/mcp_config.json",
      "copilot-cli": "/nowhere/me/.copilot/mcp-config.json",
      kiro: "/nowhere/me/.kiro/settings/mcp.json",
      cline: "/nowhere/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "cline-cli": "/nowhere/me/.cline/data/settings/cline_mcp_settings.json",
      kilo: "/nowhere/me/.config/kilo/kilo.json",
      goose: "/nowhere/me/.config/goose/config.yaml",
      grok: "/nowhere/me/.grok/config.toml",
      kimi: "/nowhere/me/.kimi-code/mcp.json",
      mcporter: "/nowhere/me/.mcporter/mcporter.json",
      pi: "/nowhere/me/.pi/agent/mcp.json",
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
      antigravity: "/nowhere/me/.gemini/config/mcp_config.json",
      "copilot-cli": "/nowhere/me/.copilot/mcp-config.json",
      kiro: "/nowhere/me/.kiro/settings/mcp.json",
      cline:
        "/nowhere/me/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "cline-cli": "/nowhere/me/.cline/data/settings/cline_mcp_settings.json",
      kilo: "/nowhere/me/.config/kilo/kilo.json",
      goose: "/nowhere/me/.config/goose/config.yaml",
      grok: "/nowhere/me/.grok/config.toml",
      kimi: "/nowhere/me/.kimi-code/mcp.json",
      mcporter: "/nowhere/me/.mcporter/mcporter.json",
      pi: "/nowhere/me/.pi/agent/mcp.json",
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
      antigravity: "C:\\me\\.gemini\\config\\mcp_config.json",
      "copilot-cli": "C:\\me\\.copilot\\mcp-config.json",
      kiro: "C:\\me\\.kiro\\settings\\mcp.json",
      cline:
        "C:\\me\\AppData\\Roaming\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json",
      "cline-cli": "C:\\me\\.cline\\data\\settings\\cline_mcp_settings.json",
      kilo: "C:\\me\\.config\\kilo\\kilo.json",
      goose: "C:\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
      grok: "C:\\me\\.grok\\config.toml",
      kimi: "C:\\me\\.kimi-code\\mcp.json",
      mcporter: "C:\\me\\.mcporter\\mcporter.json",
      pi: "C:\\me\\.pi\\agent\\mcp.json",
    },
  },
])("each client's file on $title", async ({ machine, files }) => {
  expect(await filesOn(machine)).toEqual(files);
});

test("variables of the clients move their files", async () => {
  const env = {
    CLAUDE_CONFIG_DIR: "/nowhere/c",
    CODEX_HOME: "/nowhere/x",
    COPILOT_HOME: "/nowhere/copilot",
    CLINE_DIR: "/nowhere/cline",
    GROK_HOME: "/nowhere/grok",
    KIMI_CODE_HOME: "/nowhere/kimi",
    PI_CODING_AGENT_DIR: "/nowhere/pi",
    XDG_CONFIG_HOME: "/nowhere/config",
  };
  expect(await filesOn({ platform: "linux", home: "/nowhere/me", env })).toMatchObject({
    "claude-code": "/nowhere/c/.claude.json",
    codex: "/nowhere/x/config.toml",
    "copilot-cli": "/nowhere/copilot/mcp-config.json",
    "cline-cli": "/nowhere/cline/data/settings/cline_mcp_settings.json",
    grok: "/nowhere/grok/config.toml",
    kimi: "/nowhere/kimi/mcp.json",
    pi: "/nowhere/pi/mcp.json",
    goose: "/nowhere/config/goose/config.yaml",
    kilo: "/nowhere/config/kilo/kilo.json",
  });
  const clineData = { CLINE_DATA_DIR: "/nowhere/data" };
  expect(await filesOn({ platform: "linux", home: "/nowhere/me", env: clineData })).toMatchObject({
    "cline-cli": "/nowhere/data/settings/cline_mcp_settings.json",
  });
  const clineFile = { ...clineData, CLINE_MCP_SETTINGS_PATH: "/nowhere/servers.json" };
  expect(await filesOn({ platform: "linux", home: "/nowhere/me", env: clineFile })).toMatchObject({
    "cline-cli": "/nowhere/servers.json",
  });
});

test("of Antigravity's files, connect edits the newest one that exists, and creates the newest", async () => {
  await using folder = await temporaryFolder();
  const environment = { platform: "linux", home: folder.path, env: {} } as const;
  const newest = join(folder.path, ".gemini/config/mcp_config.json");
  expect(await clientFile("antigravity", environment)).toBe(newest);
  const ofCommand = await folder.write(".gemini/antigravity-cli/mcp_config.json", "{}");
  expect(await clientFile("antigravity", environment)).toBe(ofCommand);
  const older = await folder.write(".gemini/antigravity/mcp_config.json", "{}");
  expect(await clientFile("antigravity", environment)).toBe(older);
  await folder.write(".gemini/config/mcp_config.json", "{}");
  expect(await clientFile("antigravity", environment)).toBe(newest);
});

test("of mcporter's files, connect edits the one that mcporter reads", async () => {
  await using folder = await temporaryFolder();
  const environment = { platform: "linux", home: folder.path, env: {} } as const;
  const jsonc = await folder.write(".mcporter/mcporter.jsonc", "{}");
  expect(await clientFile("mcporter", environment)).toBe(jsonc);
  const json = await folder.write(".mcporter/mcporter.json", "{}");
  expect(await clientFile("mcporter", environment)).toBe(json);
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
  ["antigravity", ".gemini/antigravity/x", true],
  ["antigravity", ".gemini/config/x", true],
  ["antigravity", ".gemini/settings.json", false],
  ["copilot-cli", ".copilot/x", true],
  ["kiro", ".kiro/x", true],
  ["cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/x", true],
  ["cline", ".config/Code/User/x", false],
  ["cline-cli", ".cline/x", true],
  ["kilo", ".config/kilo/x", true],
  ["goose", ".config/goose/x", true],
  ["grok", ".grok/x", true],
  ["kimi", ".kimi-code/x", true],
  ["mcporter", ".mcporter/x", true],
  ["pi", ".pi/agent/x", true],
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
