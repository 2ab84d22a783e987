/** The programs whose servers can be taken over, and what each of them means by what it writes. */

export type Program = "claude-desktop" | "claude-code" | "cursor" | "vscode" | "windsurf" | "codex";

/** What a program puts in place of `${…}`; whatever is not named here it takes literally. */
export type ReferenceForm =
  /** `${NAME}` and `${NAME:-default}` */
  | "variable"
  /** `${env:NAME}` */
  | "env"
  | "userHome"
  | "workspaceFolder"
  | "pathSeparator"
  /** `${input:ID}`: asked for, then remembered */
  | "input"
  /** Known to the program and without a counterpart here. */
  | "foreign";

interface Traits {
  readonly title: string;
  readonly references: ReadonlySet<ReferenceForm>;
  /** `type: "http"` falls back to SSE. */
  readonly httpFallsBack: boolean;
  /** `timeout` is documented, in milliseconds. */
  readonly timeout: boolean;
}

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
};

export const programNames: readonly Program[] = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "windsurf",
  "codex",
];

export function isProgram(name: string): name is Program {
  return Object.hasOwn(programs, name);
}

/** A file of another program. It is only ever read, as data. */
export interface ImportSource {
  readonly program: Program;
  readonly file: string;
  /** The project the file belongs to, where its relative paths start; absent for a file of the user's own. */
  readonly folder?: string;
}

/** Something to know about one key of a server that is taken over. Messages quote the file: make them safe before showing them. */
export interface Remark {
  /** `obstacle`: without this the server would not be the same one, so it is not taken over. */
  readonly kind: "converted" | "dropped" | "hint" | "obstacle";
  readonly key: string;
  readonly message: string;
  readonly next?: string;
}
