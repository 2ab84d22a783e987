/** Runs the app on a terminal: sets the terminal modes, and restores them however the process ends. */

import { ReadStream, WriteStream } from "node:tty";
import { HostError } from "@fairlead/core/errors";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { render } from "ink";
import { createImageDrawing, imageProtocol } from "../output/reports/inline-image.ts";
import type { Io } from "../shell/io.ts";
import type { Context } from "../shell/verb.ts";
import { App } from "./app.tsx";
import { endKeys, type Key, noKeys, readKeys } from "./input/keys.ts";
import { createQuestionGuard } from "./input/question-guard.ts";
import { openAppSession } from "./session/open-session.ts";
import type { Size } from "./state/app-state.ts";
import { type Look, LookContext } from "./view/lines.tsx";
import { createHighlighter } from "./view/markdown/highlighter.ts";

/** Resolves when the user quits. @throws the reason of an abort */
export async function runApp(context: Context, configuration: Configuration): Promise<void> {
  // Ctrl-C may have been pressed before the app was ready.
  context.io.signal.throwIfAborted();
  const { stdin, stdout, signal } = terminalOf(context.io);
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const size = (): Size => ({ columns: stdout.columns, rows: stdout.rows });
  const { session, close } = openAppSession(context, configuration, {
    size: size(),
    hasScreen: true,
    writeTerminal: (sequence) => void stdout.write(sequence),
    onQuit: () => leave?.(),
    onRedraw: redraw,
  });
  const { get, dispatch, subscribe } = session.store;
  const guard = createQuestionGuard({ get, dispatch, press: session.press, clock: session.clock });
  const stopLooking = subscribe(guard.look);

  /** Clears the screen but not the scrollback, and draws again. */
  function redraw(): void {
    stdout.write("\u001b[H\u001b[2J");
    dispatch({ type: "resize", size: size() });
  }

  let committed: string | undefined;
  let rendered: string | undefined;
  const onCommit = (question: string | undefined): void => {
    committed = question;
  };
  /** Ink may write a rendered frame later; the user can see it only then. */
  const onWritten = (): void => guard.drawn(rendered);
  const restore = takeTerminal({ stdin, stdout }, guard.press, session.quit);
  const abort = (): void => session.quit();
  signal.addEventListener("abort", abort, { once: true });
  stdout.on("resize", redraw);
  const screen = render(
    <LookContext value={lookAt(context.io)}>
      <App session={session} onCommit={onCommit} />
    </LookContext>,
    {
      stdin,
      stdout: drawingStream(stdout, onWritten),
      exitOnCtrlC: false,
      onRender: () => {
        rendered = committed;
      },
    },
  );
  try {
    await Promise.race([left, screen.waitUntilExit()]);
  } finally {
    stdout.off("resize", redraw);
    signal.removeEventListener("abort", abort);
    screen.unmount();
    restore();
    stopLooking();
    guard.end();
    await close();
  }
  signal.throwIfAborted();
}

function terminalOf({ stdin, stdout, signal }: Io): Terminal & Pick<Io, "signal"> {
  if (stdin instanceof ReadStream && stdout instanceof WriteStream) return { stdin, stdout, signal };
  throw new HostError("usage", "the app needs a terminal");
}

function lookAt(io: Io): Look {
  const protocol = imageProtocol(io);
  return {
    hasColour: !io.env["NO_COLOR"],
    highlighter: createHighlighter(),
    ...(protocol && { draw: createImageDrawing(protocol, io.stdout.columns) }),
  };
}

/**
 * Reports endless rows: the app itself limits what it draws, and Ink would otherwise clear the terminal with its scrollback and
 * print everything again when a frame does not fit. Ink learns a new size with the frame that was laid out for it, not before.
 * `onWritten` is called after every write.
 */
function drawingStream(stdout: NodeJS.WriteStream, onWritten: () => void): NodeJS.WriteStream {
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

interface Terminal {
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
function takeTerminal({ stdin, stdout }: Terminal, onKey: (key: Key) => void, onEnd: () => void): () => void {
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
