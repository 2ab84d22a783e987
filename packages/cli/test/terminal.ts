/** The built command on a real pseudo-terminal: what a person sees, and what they type. */

import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import type { Machine } from "./machine.ts";
import { program } from "./process.ts";

export interface Terminal {
  /** Everything that can be seen, scrolled-away lines included. */
  screen(): string;
  /** Waits for text to be seen, and answers the whole screen; fails when the command ends without it. */
  until(pattern: RegExp): Promise<string>;
  type(text: string): void;
  readonly exitCode: Promise<number>;
}

const size = { cols: 120, rows: 40 };

export function openTerminal(here: Machine, ...argv: readonly string[]): Terminal {
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
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.onData((data) => view.write(data, notify));
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

  function until(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const seen = screen();
        if (!pattern.test(seen) && !ended) return;
        listeners.delete(look);
        if (pattern.test(seen)) resolve(seen);
        else reject(new Error(`ended without ${pattern}:\n${seen}`));
      };
      listeners.add(look);
      look();
    });
  }

  return { screen, until, exitCode, type: (text) => child.write(text) };
}
