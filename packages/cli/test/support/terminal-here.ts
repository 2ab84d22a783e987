/**
 * A command on a terminal, in this process: what it asks is answered and what it shows is read as on a pseudo-terminal, without
 * the start of a process. There is no echo of the system's own and there are no signals: only a program that reads keys itself
 * can be typed to.
 */

import { PassThrough, Writable } from "node:stream";
import { main } from "../../src/shell/main.ts";
import { type Machine, withoutHost } from "./machine.ts";
import { createScreen, type Screen, size } from "./terminal-screen.ts";

/** At the end of its scope the command is asked to end, if it has not ended by itself. */
export interface TerminalHere extends Screen, AsyncDisposable {
  type(text: string): void;
  readonly exitCode: Promise<number>;
}

export function openTerminalHere({ env, project, home }: Machine, ...argv: readonly string[]): TerminalHere {
  const { shown, write, end, dispose } = createScreen();
  const isTTY = true as const;
  const paper = (): Writable =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        write(String(chunk).replaceAll(/\r?\n/g, "\r\n"));
        done();
      },
    });
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => stdin });
  const leave = new AbortController();
  const running = main(argv, {
    stdin,
    stdout: Object.assign(paper(), { isTTY, columns: size.cols }),
    stderr: Object.assign(paper(), { isTTY, columns: size.cols }),
    env: { ...withoutHost(env, argv.join(" ")), TERM: "xterm-256color" },
    cwd: project,
    home,
    platform: process.platform,
    signal: leave.signal,
  });
  const exitCode = running.then(async (code) => {
    await end();
    return code;
  });

  return {
    ...shown,
    exitCode,
    type: (text) => void stdin.write(text),
    async [Symbol.asyncDispose]() {
      leave.abort();
      await exitCode;
      dispose();
    },
  };
}
