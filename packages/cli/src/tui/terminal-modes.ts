/** The modes of the terminal while the app is on it. Whatever way the process ends, they are put back. */

import type { ReadStream } from "node:tty";
import { endKeys, type Key, noKeys, readKeys } from "./input/keys.ts";

export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const pastesOn = "\u001b[?2004h";
const pastesOff = "\u001b[?2004l";
const cursorOn = "\u001b[?25h";
/** After so many milliseconds an Escape stands for itself. Over a slow line, what belongs to it may come later than that. */
const escapeDelay = 50;
/** After so many, the end of a paste is not waited for any longer: it was lost, and the keyboard must not be lost with it. */
const pasteEndDelay = 1000;

/** Every key is told, and nothing is echoed. Returns the function that leaves the terminal as it was. */
export function takeTerminal({ stdin, stdout }: Terminal, onKey: (key: Key) => void, onEnd: () => void): () => void {
  let state = noKeys;
  let timer: NodeJS.Timeout | undefined;
  let isTaken = true;

  function take(read: ReturnType<typeof readKeys>): void {
    ({ state } = read);
    for (const key of read.keys) if (isTaken) onKey(key);
  }
  function onData(chunk: string): void {
    clearTimeout(timer);
    take(readKeys(state, chunk));
    if (state.pending === "" && state.paste === undefined) return;
    timer = setTimeout(() => take(endKeys(state)), state.paste === undefined ? escapeDelay : pasteEndDelay);
  }
  /** Also when the process ends in the middle of something: writing to a terminal does not wait. */
  function leave(): void {
    if (!isTaken) return;
    isTaken = false;
    clearTimeout(timer);
    process.off("exit", leave);
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    if (!stdin.destroyed) stdin.setRawMode(false);
    stdin.pause();
    if (!stdout.destroyed) stdout.write(`${pastesOff}${cursorOn}`);
  }

  process.once("exit", leave);
  stdin.setEncoding("utf8");
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.once("end", onEnd);
  // A terminal that is gone: the end of the session, not of the process in the middle of its work.
  stdin.once("error", onEnd);
  stdin.resume();
  stdout.write(pastesOn);
  return leave;
}
