/** The built command on a real pseudo-terminal: what a person sees, and what they type. */

import { spawn } from "@lydell/node-pty";
import xterm, { type IBufferCell } from "@xterm/headless";
import type { Machine } from "./machine.ts";
import { program } from "./process.ts";

/** At the end of its scope the command is ended, if it has not ended by itself. */
export interface Terminal extends AsyncDisposable {
  /** Everything that can be seen, scrolled-away lines included. */
  screen(): string;
  /** Every byte that the program wrote. */
  output(): string;
  /** What is on it now, row by row. */
  rows(): readonly string[];
  /** The same, cell by cell: what stands in each, and how it looks. */
  cells(): readonly (readonly Cell[])[];
  /** Waits for text to be seen, and answers the whole screen; fails when the command ends without it. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the rows that can be seen now are as wanted, and answers them. */
  untilRows(isWanted: (rows: string) => boolean): Promise<string>;
  type(text: string): void;
  resize(cols: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  readonly pid: number;
  /** What the program has asked the terminal for, and not taken back. */
  modes(): { readonly bracketedPaste: boolean; readonly cursor: boolean };
  readonly exitCode: Promise<number>;
}

export interface Cell {
  readonly text: string;
  /** Everything that is not the text: colours and styles, as numbers that can be compared. */
  readonly look: readonly number[];
}

const size = { cols: 120, rows: 40 };

export function openTerminal(here: Pick<Machine, "env" | "project">, ...argv: readonly string[]): Terminal {
  return open(here, process.execPath, [program, ...argv]);
}

/** The same through a shell, which can send a part of it elsewhere. */
export function openTerminalShell(here: Machine, line: string): Terminal {
  return open(here, "/bin/sh", ["-c", `"${process.execPath}" "${program}" ${line}`]);
}

/** Any other program. */
export function openProgram(
  here: Pick<Machine, "env" | "project">,
  command: string,
  ...argv: readonly string[]
): Terminal {
  return open(here, command, [...argv]);
}

function open({ env, project }: Pick<Machine, "env" | "project">, command: string, argv: string[]): Terminal {
  const view = new xterm.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true });
  const child = spawn(command, argv, {
    ...size,
    cwd: project,
    env: { ...env, TERM: "xterm-256color" },
  });
  const listeners = new Set<() => void>();
  let ended = false;
  let cursor = true;
  /** Between the two marks that a frame is written in: a part of it is nothing to look at. */
  let isDrawing = false;
  for (const final of ["h", "l"])
    view.parser.registerCsiHandler({ prefix: "?", final }, (modes) => {
      if (modes.includes(25)) cursor = final === "h";
      if (modes.includes(2026)) isDrawing = final === "h";
      return false;
    });
  const notify = (): void => {
    if (!isDrawing || ended) for (const listener of listeners) listener();
  };
  let output = "";
  child.onData((data) => {
    output += data;
    view.write(data, notify);
  });
  const exitCode = new Promise<number>((resolve) =>
    child.onExit(({ exitCode }) => {
      // An empty write is answered once everything before it has been drawn.
      view.write("", () => {
        ended = true;
        notify();
        resolve(exitCode);
      });
    }),
  );

  function screen(): string {
    const { active } = view.buffer;
    const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at));
    return lines
      .map((line) => `${line?.isWrapped ? "" : "\n"}${line?.translateToString(true) ?? ""}`)
      .join("")
      .trim();
  }

  function rows(): readonly string[] {
    const { active } = view.buffer;
    return Array.from(
      { length: view.rows },
      (_, at) => active.getLine(active.baseY + at)?.translateToString(true) ?? "",
    );
  }

  function cells(): readonly (readonly Cell[])[] {
    const { active } = view.buffer;
    return Array.from({ length: view.rows }, (_, row) =>
      Array.from({ length: view.cols }, (_cell, column) => toCell(active.getLine(active.baseY + row)?.getCell(column))),
    );
  }

  function wait(look: () => string, isWanted: (seen: string) => boolean, wanted: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const seen = look();
        const isSeen = isWanted(seen);
        if (!isSeen && !ended) return;
        listeners.delete(check);
        if (isSeen) resolve(seen);
        else reject(new Error(`ended without ${wanted}:\n${seen}`));
      };
      listeners.add(check);
      if (!isDrawing || ended) check();
    });
  }

  return {
    screen,
    output: () => output,
    rows,
    cells,
    until: (pattern) => wait(screen, (seen) => pattern.test(seen), String(pattern)),
    untilRows: (isWanted) => wait(() => rows().join("\n"), isWanted, String(isWanted)),
    exitCode,
    pid: child.pid,
    type: (text) => child.write(text),
    resize(cols, rows) {
      view.resize(cols, rows);
      child.resize(cols, rows);
    },
    kill: (signal) => child.kill(signal),
    modes: () => ({ bracketedPaste: view.modes.bracketedPasteMode, cursor }),
    async [Symbol.asyncDispose]() {
      if (!ended) child.kill("SIGKILL");
      await exitCode;
      view.dispose();
    },
  };
}

function toCell(cell: IBufferCell | undefined): Cell {
  if (cell === undefined) return { text: "", look: [] };
  const styles = [
    cell.isBold(),
    cell.isDim(),
    cell.isItalic(),
    cell.isUnderline(),
    cell.isInverse(),
    cell.isInvisible(),
  ];
  const look = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor(), ...styles];
  // A cell that was never written to looks like one with a space.
  return { text: cell.getChars() || " ", look };
}
