/** What a terminal shows: bytes go in, what a person would see comes out, and can be waited for. */

import xterm, { type IBufferCell } from "@xterm/headless";

export interface Screen {
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
  /** What the program has asked the terminal for, and not taken back. */
  modes(): { readonly bracketedPaste: boolean; readonly cursor: boolean };
}

export interface Cell {
  readonly text: string;
  /** Everything that is not the text: colours and styles, as numbers that can be compared. */
  readonly look: readonly number[];
}

/** The other side of a screen: what is done to it. */
export interface ScreenControl {
  readonly shown: Screen;
  readonly write: (data: string) => void;
  readonly resize: (cols: number, rows: number) => void;
  /** Nothing more will be written; resolves when all that was is drawn. */
  readonly end: () => Promise<void>;
  readonly dispose: () => void;
}

export const size: Readonly<Record<"cols" | "rows", number>> = { cols: 120, rows: 40 };

export function createScreen(): ScreenControl {
  const view = new xterm.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true });
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
    shown: {
      screen,
      output: () => output,
      rows,
      cells,
      until: (pattern) => wait(screen, (seen) => pattern.test(seen), String(pattern)),
      untilRows: (isWanted) => wait(() => rows().join("\n"), isWanted, String(isWanted)),
      modes: () => ({ bracketedPaste: view.modes.bracketedPasteMode, cursor }),
    },
    write(data) {
      output += data;
      view.write(data, notify);
    },
    resize: (cols, rows) => view.resize(cols, rows),
    end: () =>
      // An empty write is answered once everything before it has been drawn.
      new Promise<void>((resolve) =>
        view.write("", () => {
          ended = true;
          notify();
          resolve();
        }),
      ),
    dispose: () => view.dispose(),
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
