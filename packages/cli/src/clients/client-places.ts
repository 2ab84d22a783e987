/** The settings files of each client, by platform. */

import { stat } from "node:fs/promises";
import { delimiter, join, posix, win32 } from "node:path";
import type { Environment } from "@fairlead/core/settings";
import { type ClientName, clients } from "./client.ts";

type PathEnvironment = Pick<Environment, "env" | "home" | "platform">;

interface ClientPlace {
  /** The files in which the client looks for its settings. The client uses the first file that exists. */
  readonly files: readonly string[];
  /** The file that `connect` creates if none of `files` exists. Absent: the first one. */
  readonly created?: string;
  /** Files and folders that exist only if the client is installed. */
  readonly signs: readonly string[];
}

/** The folders of a user in which clients keep their settings. */
interface UserFolders extends PathEnvironment {
  readonly join: (...parts: readonly string[]) => string;
  /** `%APPDATA%`, `~/Library/Application Support` or `~/.config`. */
  readonly support: string;
  /** `~/.config` on every platform; `XDG_CONFIG_HOME` can replace it, except on Windows. */
  readonly dotConfig: string;
}

const clientPlaces: Readonly<Record<ClientName, (folders: UserFolders) => ClientPlace>> = {
  "claude-code": ({ env, home, join }) => {
    const file = join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json");
    return { files: [file], signs: [file, env["CLAUDE_CONFIG_DIR"] || join(home, ".claude")] };
  },
  "claude-desktop": ({ support, join }) => {
    const folder = join(support, "Claude");
    return { files: [join(folder, "claude_desktop_config.json")], signs: [folder] };
  },
  codex: ({ env, home, join }) => {
    const folder = env["CODEX_HOME"] || join(home, ".codex");
    return { files: [join(folder, "config.toml")], signs: [folder] };
  },
  // Fairlead uses `~/.gemini` too, so the folder does not show that Gemini CLI is installed.
  gemini: ({ home, join }) => ({
    files: [join(home, ".gemini", "settings.json")],
    signs: [join(home, ".gemini", "installation_id")],
  }),
  cursor: ({ home, join }) => ({ files: [join(home, ".cursor", "mcp.json")], signs: [join(home, ".cursor")] }),
  vscode: ({ support, join }) => {
    const folder = join(support, "Code", "User");
    return { files: [join(folder, "mcp.json")], signs: [folder] };
  },
  windsurf: ({ home, join }) => {
    const folder = join(home, ".codeium", "windsurf");
    return { files: [join(folder, "mcp_config.json")], signs: [folder] };
  },
  zed: ({ platform, support, dotConfig, join }) => {
    const folder = platform === "win32" ? join(support, "Zed") : join(dotConfig, "zed");
    return { files: [join(folder, "settings.json")], signs: [folder] };
  },
  opencode: ({ dotConfig, join }) => {
    const folder = join(dotConfig, "opencode");
    const created = join(folder, "opencode.json");
    return { files: [join(folder, "opencode.jsonc"), created], created, signs: [folder] };
  },
  // Newest first. Before its second version, the program and its command line had a file each.
  antigravity: ({ home, join }) => {
    const folders = ["config", "antigravity", "antigravity-cli"].map((name) => join(home, ".gemini", name));
    return { files: folders.map((folder) => join(folder, "mcp_config.json")), signs: folders };
  },
  "copilot-cli": ({ env, home, join }) => {
    const folder = env["COPILOT_HOME"] || join(home, ".copilot");
    return { files: [join(folder, "mcp-config.json")], signs: [folder] };
  },
  kiro: ({ home, join }) => ({
    files: [join(home, ".kiro", "settings", "mcp.json")],
    signs: [join(home, ".kiro")],
  }),
  cline: ({ support, join }) => {
    const folder = join(support, "Code", "User", "globalStorage", "saoudrizwan.claude-dev");
    return { files: [join(folder, "settings", "cline_mcp_settings.json")], signs: [folder] };
  },
  "cline-cli": ({ env, home, join }) => {
    const folder = env["CLINE_DIR"] || join(home, ".cline");
    const data = env["CLINE_DATA_DIR"] || join(folder, "data");
    const file = env["CLINE_MCP_SETTINGS_PATH"] || join(data, "settings", "cline_mcp_settings.json");
    return { files: [file], signs: [folder] };
  },
  kilo: ({ dotConfig, join }) => {
    const folder = join(dotConfig, "kilo");
    const created = join(folder, "kilo.json");
    return { files: [join(folder, "kilo.jsonc"), created], created, signs: [folder] };
  },
  goose: ({ platform, support, dotConfig, join }) => {
    const folder = platform === "win32" ? join(support, "Block", "goose", "config") : join(dotConfig, "goose");
    return { files: [join(folder, "config.yaml")], signs: [folder] };
  },
  grok: ({ env, home, join }) => {
    const folder = env["GROK_HOME"] || join(home, ".grok");
    return { files: [join(folder, "config.toml")], signs: [folder] };
  },
  kimi: ({ env, home, join }) => {
    const folder = env["KIMI_CODE_HOME"] || join(home, ".kimi-code");
    return { files: [join(folder, "mcp.json")], signs: [folder] };
  },
  mcporter: ({ home, join }) => {
    const folder = join(home, ".mcporter");
    return { files: [join(folder, "mcporter.json"), join(folder, "mcporter.jsonc")], signs: [folder] };
  },
  pi: ({ env, home, join }) => {
    const folder = env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent");
    return { files: [join(folder, "mcp.json")], signs: [folder] };
  },
};

function placeOf(client: ClientName, environment: PathEnvironment): ClientPlace {
  const { env, home, platform } = environment;
  const path = platform === "win32" ? win32 : posix;
  const join = (...parts: readonly string[]): string => path.join(...parts);
  const dotConfig = (platform !== "win32" && env["XDG_CONFIG_HOME"]) || join(home, ".config");
  return clientPlaces[client]({ ...environment, join, dotConfig, support: applicationFolder(environment) });
}

/** The files in which the client looks for its settings, whether they exist or not. */
export function clientFiles(client: ClientName, environment: PathEnvironment): readonly string[] {
  return placeOf(client, environment).files;
}

/**
 * The settings file that `connect` edits: the client's first file that exists. If none exists, the file that `connect`
 * creates.
 */
export async function clientFile(client: ClientName, environment: PathEnvironment): Promise<string> {
  const { files, created = files[0] ?? "" } = placeOf(client, environment);
  for (const file of files) if (await exists(file)) return file;
  return created;
}

/** Whether one of the client's files or folders exists on this machine, or its program is in PATH. */
export async function isInstalled(client: ClientName, environment: PathEnvironment): Promise<boolean> {
  for (const sign of placeOf(client, environment).signs) if (await exists(sign)) return true;
  return (await findCommand(client, environment)) !== undefined;
}

async function findCommand(client: ClientName, { env, platform }: PathEnvironment): Promise<string | undefined> {
  const folders = (env["PATH"] ?? "").split(platform === "win32" ? ";" : delimiter).filter((folder) => folder !== "");
  const endings = platform === "win32" ? [".exe", ".cmd"] : [""];
  for (const folder of folders)
    for (const name of clients[client].commands)
      for (const ending of endings) {
        const file = join(folder, name + ending);
        if (await exists(file)) return file;
      }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The folder in which programs keep their settings: `%APPDATA%`, `~/Library/Application Support` or `~/.config`. */
export function applicationFolder({ env, home, platform }: PathEnvironment): string {
  if (platform === "win32") return env["APPDATA"] || win32.join(home, "AppData", "Roaming");
  if (platform === "darwin") return posix.join(home, "Library", "Application Support");
  return env["XDG_CONFIG_HOME"] || posix.join(home, ".config");
}
