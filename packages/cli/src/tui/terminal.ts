/** The terminal of the app: its modes, its keys, and the stream that Ink draws on. */

import { ReadStream, WriteStream } from "node:tty";
import { HostError } from "@fairlead/core/errors";
import { createImageDrawing, imageProtocol } from "../output/reports/inline-image.ts";
import type { Io } from "../shell/io.ts";
import { endKeys, type Key, noKeys, readKeys } from "./input/keys.ts";
import type { Look } from "./view/lines.tsx";
import { createHighlighter } from "./view/markdown/highlighter.ts";

/**
 * Checks that the app has a terminal.
 * @throws HostError `usage` if there is no terminal
 */
export function terminalOf({ stdin, stdout, signal }: Io): Terminal & Pick<Io, "signal"> {
  if (stdin instanceof ReadStream && stdout instanceof WriteStream) return { stdin, stdout, signal };
  throw new HostError("usage", "the app needs a terminal");
}

export function lookAt(io: Io): Look {
  const protocol = imageProtocol(io);
  return {
    hasColour: !io.env["NO_COLOR"],
    highlighter: createHighlighter(),
    ...(protocol && { draw: createImageDrawing(protocol, io.stdout.columns) }),
  };
}

/**
 * Wraps stdout for Ink, and tells Ink that the screen has endless rows: otherwise Ink would clear the scrollback
 * whenever a frame does not fit. `onWritten` is called after every write.
 */
export function drawingStream(stdout: NodeJS.WriteStream, onWritten: () => void): NodeJS.WriteStream {
  const own = new Map<PropertyKey, unknown>([
    ["rows", Number.POSITIVE_INFINITY],
    [
      "on",
      (event: string, listener: (...given: unknown[]) => void) => event === "resize" || stdout.on(event, listener),
    ],
    [
      "write",
      (...given: Parameters<NodeJS.WriteStream["write"]>) => {
        const isTaken = stdout.write(...given);
        onWritten();
        return isTaken;
      },
    ],
  ]);
  return new Proxy(stdout, {
    get(target, name) {
      if (own.has(name)) return own.get(name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const pastesOn = "\u001b[?2004h";
const pastesOff = "\u001b[?2004l";
const cursorOn = "\u001b[?25h";
/** An Escape without a following character counts as the Escape key after this many milliseconds. */
const escapeDelay = 50;
/** Milliseconds to wait for the end of a paste. If the end is lost, the keyboard must still work. */
const pasteEndDelay = 1000;

/** Calls `onKey` for every key, and turns off the terminal's echo. Returns the function that restores the terminal. */
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
  /** Restores the terminal. Works in an `exit` handler too, because writing to a terminal is synchronous. */
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
  // A closed terminal ends the session. The process ends later, when its servers have stopped.
  stdin.once("error", onEnd);
  stdin.resume();
  stdout.write(pastesOn);
  return leave;
}
