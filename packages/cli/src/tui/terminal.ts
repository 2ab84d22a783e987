/** Reads keys from the terminal, sets and restores its modes, and provides the stream on which Ink draws. */

import { ReadStream, WriteStream } from "node:tty";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { createImageDrawing, imageProtocol } from "../output/reports/inline-image.ts";
import type { Io } from "../shell/verb.ts";
import { endKeys, type Key, noKeys, readKeys } from "./input/keys.ts";
import type { Look } from "./view/lines.tsx";
import { Highlighter } from "./view/markdown/highlighter.ts";

/**
 * Returns stdin and stdout as a terminal.
 * @throws HostError `usage` if one of them is not a terminal
 */
export function terminalOf({ stdin, stdout, signal }: Io): Terminal & Pick<Io, "signal"> {
  if (stdin instanceof ReadStream && stdout instanceof WriteStream) return { stdin, stdout, signal };
  throw new HostError("usage", "the app needs a terminal");
}

/** Returns what the terminal can show: colours (unless `NO_COLOR` is set) and images. */
export function lookAt(io: Io): Look {
  const protocol = imageProtocol(io);
  return {
    hasColour: !io.env["NO_COLOR"],
    highlighter: new Highlighter(),
    draw: protocol && createImageDrawing(protocol, io.stdout.columns),
  };
}

/**
 * Wraps stdout for Ink. Reports an endless number of rows, because Ink clears the scrollback if a frame has more rows
 * than the screen. Calls `onWritten` after every write.
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

/** The streams of a terminal. */
export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

const pastesOn = "\u001b[?2004h";
const pastesOff = "\u001b[?2004l";
const cursorOn = "\u001b[?25h";
/** If no more input follows within this many milliseconds, ESC is the Escape key. */
const escapeDelay = 50;
/** Milliseconds to wait for the end of a small paste. If the end marker is lost, keys must still work. */
const pasteEndDelay = 1000;
/**
 * Milliseconds to wait for the rest of a large paste, because a slow connection or a busy machine may hold it back. If
 * the paste ended too early, Fairlead would send each of the other lines as if the user had typed it.
 */
const largePasteDelay = 10_000;
/** Minimum characters of a large paste. */
const largePaste = 256;
/** A chunk with more characters than this is pasted, not typed. */
const longestTyped = 32;

/**
 * Takes over the terminal: turns off its echo and calls `onKey` for every key. Calls `onEnd` if the terminal closes.
 * Returns the function that restores the terminal.
 */
export function takeTerminal(
  { stdin, stdout }: Terminal,
  onKey: (key: Key) => void,
  onEnd: () => void,
  clock: Pick<Clock, "after"> = systemClock,
): () => void {
  let state = noKeys;
  let callOff = (): void => {};
  let endOfInput: NodeJS.Immediate | undefined;
  let isTaken = true;

  function take(read: ReturnType<typeof readKeys>): void {
    ({ state } = read);
    for (const key of read.keys) if (isTaken) onKey(key);
  }
  function stopWaiting(): void {
    callOff();
    clearImmediate(endOfInput);
  }
  function onData(chunk: string): void {
    stopWaiting();
    take(readKeys(state, chunk));
    if (!isTaken || (state.pending === "" && state.paste === undefined)) return;
    const isLarge = (state.paste?.length ?? 0) >= largePaste && chunk.length > longestTyped;
    const pasteDelay = isLarge ? largePasteDelay : pasteEndDelay;
    callOff = clock.after(state.paste === undefined ? escapeDelay : pasteDelay, () => {
      // `setImmediate`: Node first reads the input that arrived while the process did not run.
      endOfInput = setImmediate(() => take(endKeys(state)));
    });
  }
  /**
   * Also runs in an `exit` handler, where only synchronous code works. Except on Windows, writing to a terminal is
   * synchronous.
   */
  function leave(): void {
    if (!isTaken) return;
    isTaken = false;
    stopWaiting();
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
  stdin.once("error", onEnd);
  stdin.resume();
  stdout.write(pastesOn);
  return leave;
}
