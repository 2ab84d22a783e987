/** The programs whose servers can be imported, and how each of them reads its file. */

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
