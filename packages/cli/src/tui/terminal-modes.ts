/** Sets the terminal modes for the app, and restores them however the process ends. */

import type { ReadStream } from "node:tty";
import { endKeys, type Key, noKeys, readKeys } from "./input/keys.ts";

export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const pastesOn = "\u001b[?2004h";
const pastesOff = "\u001b[?2004l";
const cursorOn = "\u001b[?25h";
/** Milliseconds after which a single Escape is the Escape key. A key sequence can arrive in parts over a slow connection. */
const escapeDelay = 50;
/** Milliseconds to wait for the end of a paste: if it is lost, the keyboard must still work. */
const pasteEndDelay = 1000;

/** Reports every key, without echo. Returns the function that restores the terminal. */
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
  /** Works in an `exit` handler too: writing to a terminal is synchronous. */
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
  // A closed terminal ends the session; the process still has to stop its servers.
  stdin.once("error", onEnd);
  stdin.resume();
  stdout.write(pastesOn);
  return leave;
}
