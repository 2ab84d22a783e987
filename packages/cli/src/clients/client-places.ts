/** The settings files of each client, by platform. */

import { stat } from "node:fs/promises";
import { delimiter, join, posix, win32 } from "node:path";
import type { Environment } from "@fairlead/core/settings";
import { type ClientName, clients } from "./client.ts";

type PathEnvironment = Pick<Environment, "env" | "home" | "platform">;

interface ClientPlace {
  /**
   * The files in which the client looks for its settings. The client uses the first file that exists. If none exists,
   * `connect` creates the last one.
   */
  readonly files: readonly string[];
  /** Files and folders that exist only if the client is installed. */
  readonly signs: readonly string[];
}

function placeOf(client: ClientName, environment: PathEnvironment): ClientPlace {
  const { env, home, platform } = environment;
  const path = platform === "win32" ? win32 : posix;
  const support = applicationFolder(environment);
  const inFolder = (folder: string, file: string): ClientPlace => ({
    files: [path.join(folder, file)],
    signs: [folder],
  });
  switch (client) {
    case "claude-code": {
      const folder = env["CLAUDE_CONFIG_DIR"] || home;
      const file = path.join(folder, ".claude.json");
      return { files: [file], signs: [file, env["CLAUDE_CONFIG_DIR"] || path.join(home, ".claude")] };
    }
    case "claude-desktop":
      return inFolder(path.join(support, "Claude"), "claude_desktop_config.json");
    case "codex":
      return inFolder(env["CODEX_HOME"] || path.join(home, ".codex"), "config.toml");
    case "gemini": {
      // Fairlead uses `~/.gemini` too, so the folder does not show that Gemini CLI is installed.
      const folder = path.join(home, ".gemini");
      return { files: [path.join(folder, "settings.json")], signs: [path.join(folder, "installation_id")] };
    }
    case "cursor":
      return inFolder(path.join(home, ".cursor"), "mcp.json");
    case "vscode":
      return inFolder(path.join(support, "Code", "User"), "mcp.json");
    case "windsurf":
      return inFolder(path.join(home, ".codeium", "windsurf"), "mcp_config.json");
    case "zed":
      return inFolder(path.join(configFolder(environment), platform === "win32" ? "Zed" : "zed"), "settings.json");
    case "opencode": {
      const folder = opencodeFolder(environment);
      return { files: [path.join(folder, "opencode.jsonc"), path.join(folder, "opencode.json")], signs: [folder] };
    }
  }
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
  const { files } = placeOf(client, environment);
  for (const file of files) if (await exists(file)) return file;
  return files.at(-1) ?? "";
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

/** Like `applicationFolder`, but `~/.config` on macOS too. Zed uses this folder. */
function configFolder(environment: PathEnvironment): string {
  return environment.platform === "darwin"
    ? applicationFolder({ ...environment, platform: "linux" })
    : applicationFolder(environment);
}

/**
 * The settings folder of opencode: `~/.config/opencode`. `XDG_CONFIG_HOME` can replace `~/.config`, except on Windows.
 */
function opencodeFolder({ env, home, platform }: PathEnvironment): string {
  if (platform === "win32") return win32.join(home, ".config", "opencode");
  return posix.join(env["XDG_CONFIG_HOME"] || posix.join(home, ".config"), "opencode");
}
