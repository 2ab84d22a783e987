/** The app on a pseudo-terminal, as a person finds it: ready to be typed into. What it showed last is told when a test fails. */

import { expect, onTestFailed } from "vitest";
import type { Machine } from "../machine.ts";
import { openTerminal, type Terminal } from "../terminal.ts";

type Place = Pick<Machine, "env" | "project">;

export const keys = {
  down: "\u001b[B",
  escape: "\u001b",
  tab: "\t",
  ctrlC: "\u0003",
} as const;

export function watched(terminal: Terminal): Terminal {
  onTestFailed(() => void process.stderr.write(`the last screen:\n${terminal.rows().join("\n").trimEnd()}\n`));
  return terminal;
}

export async function openApp(here: Place, ...argv: readonly string[]): Promise<Terminal> {
  const terminal = watched(openTerminal(here, ...argv));
  await terminal.until(/^› /m);
  return terminal;
}

export function enter(terminal: Terminal, line: string): void {
  terminal.type(`${line}\r`);
}

/** To a question that has just appeared: keys count for it when the prompt has its mark again. */
export async function answerWith(terminal: Terminal, keys: string): Promise<void> {
  await terminal.untilRows((rows) => /^╭─ [\s\S]*^›/m.test(rows));
  terminal.type(keys);
}

/** Whether a question with this title stands there whole. */
export function isAsked(rows: string, title: string): boolean {
  const at = rows.indexOf(`╭─ ${title}`);
  return at >= 0 && /^╰─ [\s\S]*^[›…]/m.test(rows.slice(at));
}

/** Leaves the app by its command, whatever stands in the prompt. */
export async function quit(terminal: Terminal): Promise<void> {
  terminal.type("\u0005\u0015/quit\r");
  expect(await terminal.exitCode).toBe(0);
}

export function pasted(text: string): string {
  return `\u001b[200~${text}\u001b[201~`;
}

/** Where the dialog that is open begins and ends on the screen. */
export function dialogPlace(rows: readonly string[]): { readonly from: number; readonly to: number } {
  return {
    from: rows.findIndex((row) => row.startsWith("╭─ ")),
    to: rows.findIndex((row) => row.startsWith("╰─ ")),
  };
}
