/** The built command on a real pseudo-terminal: what a person sees, and what they type. */

import { Buffer } from "node:buffer";
import { writeSync } from "node:fs";
import type { ReadStream } from "node:tty";
import { type IPty, spawn } from "@lydell/node-pty";
import { type Machine, withoutHost } from "./machine.ts";
import { program } from "./process.ts";
import { createScreen, type Screen, size } from "./terminal-screen.ts";

/** At the end of its scope the command is ended, if it has not ended by itself. */
export interface Terminal extends Screen, AsyncDisposable {
  type(text: string): void;
  resize(cols: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  readonly pid: number;
  readonly exitCode: Promise<number>;
}

export function openTerminal(here: Pick<Machine, "env" | "project">, ...argv: readonly string[]): Terminal {
  return open({ ...here, env: withoutHost(here.env, argv.join(" ")) }, process.execPath, [program, ...argv]);
}

/** The same through a shell, which can send a part of it elsewhere. */
export function openTerminalShell(here: Machine, line: string): Terminal {
  return open({ ...here, env: withoutHost(here.env, line) }, "/bin/sh", [
    "-c",
    `"${process.execPath}" "${program}" ${line}`,
  ]);
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
  const { shown, write, ...control } = createScreen();
  const child = spawn(command, argv, {
    ...size,
    cwd: project,
    env: { ...env, TERM: "xterm-256color" },
  });
  child.onData(write);
  closeAfterReading(child);
  let hasEnded = false;
  const type = createKeyboard(child, () => hasEnded);
  const exitCode = new Promise<number>((resolve) =>
    child.onExit(({ exitCode }) => {
      hasEnded = true;
      resolve(control.end().then(() => exitCode));
    }),
  );

  return {
    ...shown,
    exitCode,
    pid: child.pid,
    type,
    resize(cols, rows) {
      control.resize(cols, rows);
      child.resize(cols, rows);
    },
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill("SIGKILL");
      await exitCode;
      control.dispose();
    },
  };
}

/**
 * node-pty closes the terminal 200 ms after the end of the command, also if this process was too busy to read the last
 * output in that time. This function makes it read that output first: it closes the terminal only after a turn of the
 * event loop in which nothing came.
 */
function closeAfterReading(child: IPty): void {
  const { _socket: socket } = child as IPty & { readonly _socket: ReadStream };
  const close = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined || socket.readableEnded) return close(error);
    let read: number | undefined;
    const closeIfRead = (): void => {
      if (read === socket.bytesRead) close();
      else setImmediate(closeIfRead);
      read = socket.bytesRead;
    };
    closeIfRead();
    return socket;
  };
}

/**
 * `child.write` blocks this process until the command has read everything. Then nothing reads the command's output, and
 * if the command waits for that, both wait forever. This function never blocks: what does not fit now is typed later.
 */
function createKeyboard(child: IPty, hasEnded: () => boolean): (text: string) => void {
  const { fd, _socket: socket } = child as IPty & { readonly fd: number; readonly _socket: { destroyed: boolean } };
  let waiting = Buffer.alloc(0);

  function flush(): void {
    // The number of a closed file may already belong to another file.
    while (waiting.length > 0 && !hasEnded() && !socket.destroyed) {
      try {
        waiting = waiting.subarray(writeSync(fd, waiting));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
        setImmediate(flush);
        return;
      }
    }
  }

  return (text) => {
    const isFlushing = waiting.length > 0;
    waiting = Buffer.concat([waiting, Buffer.from(text)]);
    if (!isFlushing) flush();
  };
}
