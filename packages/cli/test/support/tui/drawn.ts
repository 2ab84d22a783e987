/** A view as a terminal shows it: rendered by Ink, drawn by a terminal emulator, read cell by cell. */

import xterm from "@xterm/headless";
import { renderToString } from "ink";
import type { ReactElement } from "react";

export interface Screen {
  /** What Ink writes. */
  readonly written: string;
  /** The rows as they are seen, without blanks at their ends. */
  readonly rows: readonly string[];
}

/** Drawn after an empty first row, so that nothing can hide above; lines of Ink end with CR LF, as they do in raw mode. */
export async function draw(view: ReactElement, columns: number): Promise<Screen> {
  const written = renderToString(view, { columns });
  const rows = await show(written, columns);
  return { written, rows };
}

export async function show(written: string, columns: number): Promise<readonly string[]> {
  const height = written.split("\n").length;
  const terminal = new xterm.Terminal({ cols: columns, rows: height + 5, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(written.replaceAll("\n", "\r\n"), resolve));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
  terminal.dispose();
  return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
}
