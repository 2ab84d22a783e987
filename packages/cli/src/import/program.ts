/** The programs whose servers can be imported, and how each of them reads its file. */

import { posix, win32 } from "node:path";
import type { Environment } from "@fairlead/core/settings";
import type { ClientName } from "../clients/client.ts";
import { applicationFolder, clientFiles } from "../clients/client-places.ts";

/** A program whose servers `fairlead mcp import` can read. Gemini CLI shares its settings file with Fairlead. */
export type Program = Exclude<ClientName, "gemini">;

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
  readonly references: ReadonlySet<ReferenceForm>;
  /** Whether the program tries SSE if a server with `type: "http"` does not support HTTP. */
  readonly httpFallsBack: boolean;
  /** The key of the time limit for a call, if the program documents its unit. */
  readonly timeout?: { readonly key: string; readonly unit: "milliseconds" | "seconds" };
  /** The keys of the tools that are offered, and of those that are not. `disabledTools` counts for every program. */
  readonly includeTools?: string;
  readonly excludeTools?: string;
  /** The keys of a token for the URL's `Authorization` header: the token itself, and the name of its variable. */
  readonly token?: string;
  readonly tokenVariable?: string;
  /** The program's files in a project, as parts of a path. */
  readonly project?: readonly (readonly string[])[];
}

const milliseconds = { key: "timeout", unit: "milliseconds" } as const;
const seconds = { key: "timeout", unit: "seconds" } as const;
const shellVariables: ReadonlySet<ReferenceForm> = new Set(["variable"]);
const noReferences: ReadonlySet<ReferenceForm> = new Set();

/** For each program, in the order in which their files are listed: the references that it expands, and more. */
export const programs: Readonly<Record<Program, Traits>> = {
  "claude-desktop": { references: noReferences, httpFallsBack: false },
  "claude-code": {
    references: shellVariables,
    httpFallsBack: false,
    timeout: milliseconds,
    project: [[".mcp.json"]],
  },
  cursor: {
    references: new Set(["env", "userHome", "workspaceFolder", "pathSeparator", "foreign"]),
    httpFallsBack: true,
    project: [[".cursor", "mcp.json"]],
  },
  vscode: {
    references: new Set(["env", "userHome", "workspaceFolder", "pathSeparator", "input", "foreign"]),
    httpFallsBack: true,
    project: [[".vscode", "mcp.json"]],
  },
  windsurf: { references: new Set(["env", "foreign"]), httpFallsBack: true },
  codex: {
    references: noReferences,
    httpFallsBack: false,
    timeout: { key: "tool_timeout_sec", unit: "seconds" },
    includeTools: "enabled_tools",
    excludeTools: "disabled_tools",
    tokenVariable: "bearer_token_env_var",
    project: [[".codex", "config.toml"]],
  },
  zed: { references: noReferences, httpFallsBack: false },
  opencode: { references: new Set(["env", "foreign"]), httpFallsBack: true },
  antigravity: {
    references: noReferences,
    httpFallsBack: true,
    project: [".agents", ".agent", "_agents", "_agent"].map((folder) => [folder, "mcp_config.json"]),
  },
  "copilot-cli": {
    references: shellVariables,
    httpFallsBack: false,
    timeout: milliseconds,
    includeTools: "includeTools",
    // Copilot CLI also reads `.mcp.json`, which is listed as Claude Code's.
    project: [[".github", "mcp.json"]],
  },
  kiro: {
    references: shellVariables,
    httpFallsBack: true,
    timeout: milliseconds,
    project: [[".kiro", "settings", "mcp.json"]],
  },
  cline: { references: new Set(["env"]), httpFallsBack: false, timeout: seconds },
  "cline-cli": { references: new Set(["env"]), httpFallsBack: false, timeout: seconds },
  kilo: {
    references: new Set(["env", "foreign"]),
    httpFallsBack: true,
    project: [["kilo.jsonc"], ["kilo.json"], [".kilo", "kilo.jsonc"], [".kilo", "kilo.json"]],
  },
  goose: {
    references: shellVariables,
    httpFallsBack: false,
    timeout: seconds,
    includeTools: "available_tools",
    project: [[".goose", "config.yaml"]],
  },
  grok: {
    references: shellVariables,
    httpFallsBack: true,
    timeout: { key: "tool_timeout_sec", unit: "seconds" },
    project: [[".grok", "config.toml"]],
  },
  kimi: {
    references: noReferences,
    httpFallsBack: false,
    timeout: { key: "toolTimeoutMs", unit: "milliseconds" },
    includeTools: "enabledTools",
    tokenVariable: "bearerTokenEnvVar",
    project: [[".kimi-code", "mcp.json"]],
  },
  mcporter: {
    references: shellVariables,
    httpFallsBack: true,
    includeTools: "allowedTools",
    excludeTools: "blockedTools",
    token: "bearerToken",
    tokenVariable: "bearerTokenEnv",
    project: [["config", "mcporter.json"]],
  },
  pi: {
    references: shellVariables,
    httpFallsBack: true,
    timeout: { key: "requestTimeoutMs", unit: "milliseconds" },
    excludeTools: "excludeTools",
    token: "bearerToken",
    tokenVariable: "bearerTokenEnv",
    project: [[".pi", "mcp.json"]],
  },
};

/** All programs, in the order of the table. */
export const programNames: readonly Program[] = Object.keys(programs).filter(isProgram);

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
export function usualPlaces(environment: Environment, root: string): readonly ImportSource[] {
  const path = environment.platform === "win32" ? win32 : posix;
  const insiders = path.join(applicationFolder(environment), "Code - Insiders", "User", "mcp.json");
  const user = programNames.flatMap((program) =>
    [...clientFiles(program, environment), ...(program === "vscode" ? [insiders] : [])].map((file) => ({
      program,
      file,
    })),
  );
  const project = programNames.flatMap((program) =>
    (programs[program].project ?? []).map((parts) => ({ program, file: path.join(root, ...parts), folder: root })),
  );
  const own = new Set(user.map(({ file }) => file));
  return [
    ...user,
    // If the workspace is the home folder, its `.cursor/mcp.json` is the user's own file, which is already in the list.
    ...project.filter(({ file }) => !own.has(file)),
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
  if (path.basename(file) === ".mcp.json") return path.dirname(file);
  const inFolder = programNames
    .flatMap((program) => programs[program].project ?? [])
    .filter(({ length }) => length > 1);
  const parts = inFolder.find((names) => file.endsWith(path.sep + path.join(...names)));
  const folder = parts?.reduce((parent) => path.dirname(parent), file);
  return folder === home ? undefined : folder;
}
