import { expect, test } from "vitest";
import { projectFolder, usualPlaces } from "../../src/import/program.ts";

const own = (environment: { platform: NodeJS.Platform; home: string; env?: Record<string, string> }) =>
  usualPlaces({ env: {}, cwd: "/", ...environment }, environment.platform === "win32" ? "C:\\app" : "/app").map(
    ({ program, file, folder }) => `${program} ${file}${folder === undefined ? "" : ` in ${folder}`}`,
  );

test.each([
  {
    title: "Linux",
    environment: { platform: "linux", home: "/home/me" },
    places: [
      "claude-desktop /home/me/.config/Claude/claude_desktop_config.json",
      "claude-code /home/me/.claude.json",
      "cursor /home/me/.cursor/mcp.json",
      "vscode /home/me/.config/Code/User/mcp.json",
      "vscode /home/me/.config/Code - Insiders/User/mcp.json",
      "windsurf /home/me/.codeium/windsurf/mcp_config.json",
      "codex /home/me/.codex/config.toml",
      "zed /home/me/.config/zed/settings.json",
      "opencode /home/me/.config/opencode/opencode.jsonc",
      "opencode /home/me/.config/opencode/opencode.json",
      "antigravity /home/me/.gemini/config/mcp_config.json",
      "antigravity /home/me/.gemini/antigravity/mcp_config.json",
      "antigravity /home/me/.gemini/antigravity-cli/mcp_config.json",
      "copilot-cli /home/me/.copilot/mcp-config.json",
      "kiro /home/me/.kiro/settings/mcp.json",
      "cline /home/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "cline-cli /home/me/.cline/data/settings/cline_mcp_settings.json",
      "kilo /home/me/.config/kilo/kilo.jsonc",
      "kilo /home/me/.config/kilo/kilo.json",
      "goose /home/me/.config/goose/config.yaml",
      "grok /home/me/.grok/config.toml",
      "kimi /home/me/.kimi-code/mcp.json",
      "mcporter /home/me/.mcporter/mcporter.json",
      "mcporter /home/me/.mcporter/mcporter.jsonc",
      "pi /home/me/.pi/agent/mcp.json",
      "claude-code /app/.mcp.json in /app",
      "cursor /app/.cursor/mcp.json in /app",
      "vscode /app/.vscode/mcp.json in /app",
      "codex /app/.codex/config.toml in /app",
      "antigravity /app/.agents/mcp_config.json in /app",
      "antigravity /app/.agent/mcp_config.json in /app",
      "antigravity /app/_agents/mcp_config.json in /app",
      "antigravity /app/_agent/mcp_config.json in /app",
      "copilot-cli /app/.github/mcp.json in /app",
      "kiro /app/.kiro/settings/mcp.json in /app",
      "kilo /app/kilo.jsonc in /app",
      "kilo /app/kilo.json in /app",
      "kilo /app/.kilo/kilo.jsonc in /app",
      "kilo /app/.kilo/kilo.json in /app",
      "goose /app/.goose/config.yaml in /app",
      "grok /app/.grok/config.toml in /app",
      "kimi /app/.kimi-code/mcp.json in /app",
      "mcporter /app/config/mcporter.json in /app",
      "pi /app/.pi/mcp.json in /app",
    ],
  },
  {
    title: "macOS",
    environment: { platform: "darwin", home: "/Users/me" },
    places: [
      "claude-desktop /Users/me/Library/Application Support/Claude/claude_desktop_config.json",
      "claude-code /Users/me/.claude.json",
      "cursor /Users/me/.cursor/mcp.json",
      "vscode /Users/me/Library/Application Support/Code/User/mcp.json",
      "vscode /Users/me/Library/Application Support/Code - Insiders/User/mcp.json",
      "windsurf /Users/me/.codeium/windsurf/mcp_config.json",
      "codex /Users/me/.codex/config.toml",
      "zed /Users/me/.config/zed/settings.json",
      "opencode /Users/me/.config/opencode/opencode.jsonc",
      "opencode /Users/me/.config/opencode/opencode.json",
      "antigravity /Users/me/.gemini/config/mcp_config.json",
      "antigravity /Users/me/.gemini/antigravity/mcp_config.json",
      "antigravity /Users/me/.gemini/antigravity-cli/mcp_config.json",
      "copilot-cli /Users/me/.copilot/mcp-config.json",
      "kiro /Users/me/.kiro/settings/mcp.json",
      "cline /Users/me/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "cline-cli /Users/me/.cline/data/settings/cline_mcp_settings.json",
      "kilo /Users/me/.config/kilo/kilo.jsonc",
      "kilo /Users/me/.config/kilo/kilo.json",
      "goose /Users/me/.config/goose/config.yaml",
      "grok /Users/me/.grok/config.toml",
      "kimi /Users/me/.kimi-code/mcp.json",
      "mcporter /Users/me/.mcporter/mcporter.json",
      "mcporter /Users/me/.mcporter/mcporter.jsonc",
      "pi /Users/me/.pi/agent/mcp.json",
      "claude-code /app/.mcp.json in /app",
      "cursor /app/.cursor/mcp.json in /app",
      "vscode /app/.vscode/mcp.json in /app",
      "codex /app/.codex/config.toml in /app",
      "antigravity /app/.agents/mcp_config.json in /app",
      "antigravity /app/.agent/mcp_config.json in /app",
      "antigravity /app/_agents/mcp_config.json in /app",
      "antigravity /app/_agent/mcp_config.json in /app",
      "copilot-cli /app/.github/mcp.json in /app",
      "kiro /app/.kiro/settings/mcp.json in /app",
      "kilo /app/kilo.jsonc in /app",
      "kilo /app/kilo.json in /app",
      "kilo /app/.kilo/kilo.jsonc in /app",
      "kilo /app/.kilo/kilo.json in /app",
      "goose /app/.goose/config.yaml in /app",
      "grok /app/.grok/config.toml in /app",
      "kimi /app/.kimi-code/mcp.json in /app",
      "mcporter /app/config/mcporter.json in /app",
      "pi /app/.pi/mcp.json in /app",
    ],
  },
  {
    title: "Windows",
    environment: { platform: "win32", home: "C:\\Users\\me" },
    places: [
      "claude-desktop C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
      "claude-code C:\\Users\\me\\.claude.json",
      "cursor C:\\Users\\me\\.cursor\\mcp.json",
      "vscode C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json",
      "vscode C:\\Users\\me\\AppData\\Roaming\\Code - Insiders\\User\\mcp.json",
      "windsurf C:\\Users\\me\\.codeium\\windsurf\\mcp_config.json",
      "codex C:\\Users\\me\\.codex\\config.toml",
      "zed C:\\Users\\me\\AppData\\Roaming\\Zed\\settings.json",
      "opencode C:\\Users\\me\\.config\\opencode\\opencode.jsonc",
      "opencode C:\\Users\\me\\.config\\opencode\\opencode.json",
      "antigravity C:\\Users\\me\\.gemini\\config\\mcp_config.json",
      "antigravity C:\\Users\\me\\.gemini\\antigravity\\mcp_config.json",
      "antigravity C:\\Users\\me\\.gemini\\antigravity-cli\\mcp_config.json",
      "copilot-cli C:\\Users\\me\\.copilot\\mcp-config.json",
      "kiro C:\\Users\\me\\.kiro\\settings\\mcp.json",
      "cline C:\\Users\\me\\AppData\\Roaming\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json",
      "cline-cli C:\\Users\\me\\.cline\\data\\settings\\cline_mcp_settings.json",
      "kilo C:\\Users\\me\\.config\\kilo\\kilo.jsonc",
      "kilo C:\\Users\\me\\.config\\kilo\\kilo.json",
      "goose C:\\Users\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
      "grok C:\\Users\\me\\.grok\\config.toml",
      "kimi C:\\Users\\me\\.kimi-code\\mcp.json",
      "mcporter C:\\Users\\me\\.mcporter\\mcporter.json",
      "mcporter C:\\Users\\me\\.mcporter\\mcporter.jsonc",
      "pi C:\\Users\\me\\.pi\\agent\\mcp.json",
      "claude-code C:\\app\\.mcp.json in C:\\app",
      "cursor C:\\app\\.cursor\\mcp.json in C:\\app",
      "vscode C:\\app\\.vscode\\mcp.json in C:\\app",
      "codex C:\\app\\.codex\\config.toml in C:\\app",
      "antigravity C:\\app\\.agents\\mcp_config.json in C:\\app",
      "antigravity C:\\app\\.agent\\mcp_config.json in C:\\app",
      "antigravity C:\\app\\_agents\\mcp_config.json in C:\\app",
      "antigravity C:\\app\\_agent\\mcp_config.json in C:\\app",
      "copilot-cli C:\\app\\.github\\mcp.json in C:\\app",
      "kiro C:\\app\\.kiro\\settings\\mcp.json in C:\\app",
      "kilo C:\\app\\kilo.jsonc in C:\\app",
      "kilo C:\\app\\kilo.json in C:\\app",
      "kilo C:\\app\\.kilo\\kilo.jsonc in C:\\app",
      "kilo C:\\app\\.kilo\\kilo.json in C:\\app",
      "goose C:\\app\\.goose\\config.yaml in C:\\app",
      "grok C:\\app\\.grok\\config.toml in C:\\app",
      "kimi C:\\app\\.kimi-code\\mcp.json in C:\\app",
      "mcporter C:\\app\\config\\mcporter.json in C:\\app",
      "pi C:\\app\\.pi\\mcp.json in C:\\app",
    ],
  },
] as const)("on $title", ({ environment, places }) => {
  expect(own(environment)).toEqual(places);
});

test("variables of the programs move their files", () => {
  const env = { CLAUDE_CONFIG_DIR: "/c", CODEX_HOME: "/x", XDG_CONFIG_HOME: "/g" };
  const places = own({ platform: "linux", home: "/home/me", env });
  expect(places).toContain("claude-code /c/.claude.json");
  expect(places).toContain("codex /x/config.toml");
  expect(places).toContain("claude-desktop /g/Claude/claude_desktop_config.json");
  expect(places).toContain("vscode /g/Code/User/mcp.json");
  expect(places).toContain("zed /g/zed/settings.json");
  expect(places).toContain("opencode /g/opencode/opencode.jsonc");
  const onWindows = own({ platform: "win32", home: "C:\\me", env: { APPDATA: "D:\\a", XDG_CONFIG_HOME: "D:\\g" } });
  expect(onWindows).toContain("claude-desktop D:\\a\\Claude\\claude_desktop_config.json");
  expect(onWindows).toContain("zed D:\\a\\Zed\\settings.json");
  expect(onWindows).toContain("opencode C:\\me\\.config\\opencode\\opencode.json");
  const onMac = own({ platform: "darwin", home: "/me", env: { APPDATA: "/a", XDG_CONFIG_HOME: "/g" } });
  expect(onMac).toContain("claude-desktop /me/Library/Application Support/Claude/claude_desktop_config.json");
  expect(onMac).toContain("zed /g/zed/settings.json");
});

test("at home, the user's own files are not a project's too", () => {
  const places = usualPlaces({ env: {}, cwd: "/", platform: "linux", home: "/app" }, "/app");
  expect(places.filter(({ file }) => file === "/app/.cursor/mcp.json")).toEqual([
    { program: "cursor", file: "/app/.cursor/mcp.json" },
  ]);
});

test.each([
  ["/other/.mcp.json", "/other"],
  ["/other/.vscode/mcp.json", "/other"],
  ["/other/.cursor/mcp.json", "/other"],
  ["/home/me/.cursor/mcp.json", undefined],
  ["/home/me/.codex/config.toml", undefined],
  ["/home/me/servers.json", undefined],
  ["/home/me/.mcp.json", "/home/me"],
  ["/home/me/.vscode/mcp.json", undefined],
  ["/other/.codex/config.toml", "/other"],
  ["/other/.zed/settings.json", undefined],
  ["/other/.cursor/sub/mcp.json", undefined],
  ["/other/_agents/mcp_config.json", "/other"],
  ["/other/.kiro/settings/mcp.json", "/other"],
  ["/home/me/.kiro/settings/mcp.json", undefined],
  ["/other/config/mcporter.json", "/other"],
  ["/home/me/.mcporter/mcporter.json", undefined],
  ["/home/me/.config/kilo/kilo.json", undefined],
  ["/other/.pi/mcp.json", "/other"],
  ["/home/me/.pi/agent/mcp.json", undefined],
] as const)("%s belongs to the project %s", (file, folder) => {
  expect(projectFolder(file, { home: "/home/me", platform: "linux" })).toBe(folder);
});

test("the project's folder is found with the separators of the platform", () => {
  const home = "C:\\me";
  expect(projectFolder("C:\\app\\.vscode\\mcp.json", { home, platform: "win32" })).toBe("C:\\app");
  expect(projectFolder("C:\\me\\.cursor\\mcp.json", { home, platform: "win32" })).toBeUndefined();
  expect(projectFolder("C:\\app\\.vscode\\mcp.json", { home, platform: "linux" })).toBeUndefined();
});
