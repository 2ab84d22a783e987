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
  /** Whether the program's documentation says that `timeout` is in milliseconds. */
  readonly timeout: boolean;
}

/** For each program, in the order in which their files are listed: the references that it expands, and more. */
export const programs: Readonly<Record<Program, Traits>> = {
  "claude-desktop": { references: new Set(), httpFallsBack: false, timeout: false },
  "claude-code": { references: new Set(["variable"]), httpFallsBack: false, timeout: true },
  cursor: {
    references: new Set(["env", "userHome", "workspaceFolder", "pathSeparator", "foreign"]),
    httpFallsBack: true,
    timeout: false,
  },
  vscode: {
    references: new Set(["env", "userHome", "workspaceFolder", "pathSeparator", "input", "foreign"]),
    httpFallsBack: true,
    timeout: false,
  },
  windsurf: { references: new Set(["env", "foreign"]), httpFallsBack: true, timeout: false },
  codex: { references: new Set(), httpFallsBack: false, timeout: false },
  zed: { references: new Set(), httpFallsBack: false, timeout: false },
  opencode: { references: new Set(["env", "foreign"]), httpFallsBack: true, timeout: false },
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
  const project: readonly (readonly [Program, string])[] = [
    ["claude-code", path.join(root, ".mcp.json")],
    ["cursor", path.join(root, ".cursor", "mcp.json")],
    ["vscode", path.join(root, ".vscode", "mcp.json")],
    ["codex", path.join(root, ".codex", "config.toml")],
  ];
  const own = new Set(user.map(({ file }) => file));
  return [
    ...user,
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
