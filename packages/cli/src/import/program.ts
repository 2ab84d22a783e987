/** The programs whose servers can be imported, and how each of them reads its file. */

import { posix, win32 } from "node:path";
import type { Environment } from "@fairlead/core/settings/read/paths";

/** The name of a program on the command line of `fairlead mcp import`. */
export type Program =
  | "claude-desktop"
  | "claude-code"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "codex"
  | "zed"
  | "opencode";

/** The forms of `${…}` that a program replaces by a value. Any other `${…}` is plain text for that program. */
export type ReferenceForm =
  /** `${NAME}` and `${NAME:-default}` */
  | "variable"
  /** `${env:NAME}` */
  | "env"
  | "userHome"
  | "workspaceFolder"
  | "pathSeparator"
  /** `${input:ID}`: the program asks the user once and stores the answer */
  | "input"
  /** A reference that the program replaces by a value, and for which Fairlead has no equivalent. */
  | "foreign";

interface Traits {
  readonly title: string;
  readonly references: ReadonlySet<ReferenceForm>;
  /** Whether the program tries SSE if a server with `type: "http"` does not support HTTP. */
  readonly httpFallsBack: boolean;
  /** Whether the program's documentation says that `timeout` is in milliseconds. */
  readonly timeout: boolean;
}

/** For each program: its title, the references that it expands, and how it treats HTTP and timeouts. */
export const programs: Readonly<Record<Program, Traits>> = {
  "claude-desktop": { title: "Claude Desktop", references: new Set(), httpFallsBack: false, timeout: false },
  "claude-code": { title: "Claude Code", references: new Set(["variable"]), httpFallsBack: false, timeout: true },
  cursor: {
    title: "Cursor",
    references: new Set(["env", "userHome", "workspaceFolder", "pathSeparator", "foreign"]),
    httpFallsBack: true,
    timeout: false,
  },
  vscode: {
    title: "VS Code",
    references: new Set(["env", "userHome", "workspaceFolder", "pathSeparator", "input", "foreign"]),
    httpFallsBack: true,
    timeout: false,
  },
  windsurf: { title: "Windsurf", references: new Set(["env", "foreign"]), httpFallsBack: true, timeout: false },
  codex: { title: "Codex", references: new Set(), httpFallsBack: false, timeout: false },
  zed: { title: "Zed", references: new Set(), httpFallsBack: false, timeout: false },
  opencode: { title: "opencode", references: new Set(["env", "foreign"]), httpFallsBack: true, timeout: false },
};

/** All programs, in the order in which their files are listed. */
export const programNames: readonly Program[] = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "windsurf",
  "codex",
  "zed",
  "opencode",
];

/** Whether Fairlead can import servers from a program with this name. */
export function isProgram(name: string): name is Program {
  return Object.hasOwn(programs, name);
}

/** A file of another program. An import never changes this file. */
export interface ImportSource {
  readonly program: Program;
  readonly file: string;
  /**
   * The folder of the project that the file belongs to. Relative paths start in this folder. Absent for the user's own
   * files.
   */
  readonly folder?: string;
}

/** A remark about one key of an imported server. Escape the message before you show it, because it quotes the file. */
export interface Remark {
  /**
   * `obstacle`: the key cannot be converted, and the server would work differently without it. So the server is not
   * imported.
   */
  readonly kind: "converted" | "dropped" | "hint" | "obstacle";
  readonly key: string;
  readonly message: string;
  readonly next?: string;
}

// The default settings files of other programs, on each platform.

/** Returns the user's and the project's default files of each program, whether they exist or not. */
export function usualPlaces({ env, home, platform }: Environment, root: string): readonly ImportSource[] {
  const path = platform === "win32" ? win32 : posix;
  const support = applicationFolder({ env, home, platform });
  const claude = env["CLAUDE_CONFIG_DIR"] || home;
  const codex = env["CODEX_HOME"] || path.join(home, ".codex");
  const user: readonly (readonly [Program, string])[] = [
    ["claude-desktop", path.join(support, "Claude", "claude_desktop_config.json")],
    ["claude-code", path.join(claude, ".claude.json")],
    ["cursor", path.join(home, ".cursor", "mcp.json")],
    ["vscode", path.join(support, "Code", "User", "mcp.json")],
    ["vscode", path.join(support, "Code - Insiders", "User", "mcp.json")],
    ["windsurf", path.join(home, ".codeium", "windsurf", "mcp_config.json")],
    ["codex", path.join(codex, "config.toml")],
    ["zed", path.join(configFolder({ env, home, platform }), platform === "win32" ? "Zed" : "zed", "settings.json")],
    ["opencode", path.join(opencodeFolder({ env, home, platform }), "opencode.jsonc")],
    ["opencode", path.join(opencodeFolder({ env, home, platform }), "opencode.json")],
  ];
  const project: readonly (readonly [Program, string])[] = [
    ["claude-code", path.join(root, ".mcp.json")],
    ["cursor", path.join(root, ".cursor", "mcp.json")],
    ["vscode", path.join(root, ".vscode", "mcp.json")],
    ["codex", path.join(root, ".codex", "config.toml")],
  ];
  const own = new Set(user.map(([, file]) => file));
  return [
    ...user.map(([program, file]) => ({ program, file })),
    // If the workspace is the home folder, its `.cursor/mcp.json` is the user's own file, which is already in the list.
    ...project.filter(([, file]) => !own.has(file)).map(([program, file]) => ({ program, file, folder: root })),
  ];
}

/**
 * Returns the project folder of a settings file such as `.vscode/mcp.json`. Undefined for other files, and for the
 * user's own files such as `~/.cursor/mcp.json`.
 */
export function projectFolder(
  file: string,
  { home, platform }: Pick<Environment, "home" | "platform">,
): string | undefined {
  const path = platform === "win32" ? win32 : posix;
  const parent = path.dirname(file);
  if (path.basename(file) === ".mcp.json") return parent;
  const inDotFolder = [".vscode", ".cursor", ".codex"].includes(path.basename(parent));
  return inDotFolder && path.dirname(parent) !== home ? path.dirname(parent) : undefined;
}

/** The folder in which programs keep their settings: `%APPDATA%`, `~/Library/Application Support` or `~/.config`. */
export function applicationFolder({ env, home, platform }: PathEnvironment): string {
  if (platform === "win32") return env["APPDATA"] || win32.join(home, "AppData", "Roaming");
  if (platform === "darwin") return posix.join(home, "Library", "Application Support");
  return env["XDG_CONFIG_HOME"] || posix.join(home, ".config");
}

type PathEnvironment = Pick<Environment, "env" | "home" | "platform">;

/** Like `applicationFolder`, but `~/.config` on macOS too. Zed uses this folder. */
export function configFolder(environment: PathEnvironment): string {
  return environment.platform === "darwin"
    ? applicationFolder({ ...environment, platform: "linux" })
    : applicationFolder(environment);
}

/**
 * The settings folder of opencode: `~/.config/opencode`. `XDG_CONFIG_HOME` can replace `~/.config`, except on Windows.
 */
export function opencodeFolder({ env, home, platform }: PathEnvironment): string {
  if (platform === "win32") return win32.join(home, ".config", "opencode");
  return posix.join(env["XDG_CONFIG_HOME"] || posix.join(home, ".config"), "opencode");
}
