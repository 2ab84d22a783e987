/** `fairlead --plain`: runs the app line by line, for screen readers and simple terminals. Never moves the cursor. */

import { createInterface } from "node:readline";
import type { Configuration } from "@fairlead/core/trust";
import type { Context } from "../shell/verb.ts";
import type { Key } from "./input/keys.ts";
import { QuestionGuard } from "./input/question-guard.ts";
import { LateLine, lineSteps } from "./plain/line-steps.ts";
import { PastedLines } from "./plain/pasted-lines.ts";
import { PlainPrinter } from "./plain/plain-printer.ts";
import { AppSession } from "./session/session.ts";

const ctrlC: Key = { name: "text", text: "c", ctrl: true };
/** Rows of an imaginary screen on which everything fits, so that nothing is cut. */
const endless = 1_000_000;

/** Runs the app in plain mode. Resolves when the user quits. */
export async function runPlain(context: Context, configuration: Configuration): Promise<void> {
  const { stdin, stdout, signal, takeInterrupts } = context.io;
  // Ctrl-C may have been pressed before the app was ready.
  signal.throwIfAborted();
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const session = new AppSession(context, configuration, {
    size: { columns: stdout.columns ?? 80, rows: endless },
    hasScreen: false,
    writeTerminal: (sequence) => void stdout.write(sequence),
    onQuit: () => leave?.(),
    onRedraw: () => {},
  });
  const { get, subscribe, dispatch } = session.store;
  const { press, clock } = session;
  const guard = new QuestionGuard(session.store, press, clock);
  const printer = new PlainPrinter({ get, onAsked: guard.drawn, write: (text) => void stdout.write(text) });
  const late = new LateLine(get, clock);
  const stopListening = subscribe(() => {
    late.look();
    printer.update();
  });
  const giveBack = takeInterrupts?.(() => session.press(ctrlC));
  const quit = (): void => session.quit();
  signal.addEventListener("abort", quit, { once: true });
  const lines = createInterface({ input: stdin, terminal: false });
  const enter = (line: string): void => {
    printer.entered();
    const isLate = late.isLate();
    if (isLate) session.note("warning", "The question has already closed, so your line was not sent.");
    for (const step of isLate ? [] : lineSteps(get(), line)) {
      if ("key" in step) press(step.key);
      else dispatch(step.event);
    }
    // Plain mode has no Tab key to select an open question. So the next line answers it if the prompt is empty.
    if (get().editor.text === "") dispatch({ type: "focus", focus: "dialog" });
    late.read();
    printer.update();
  };
  const pasted = new PastedLines({ enter, refuse: (text) => session.note("warning", text), get, clock });
  // On a terminal, lines that arrive together were pasted. Lines from a file or a pipe are entered one by one.
  lines.on("line", stdin.isTTY ? pasted.add : enter);
  lines.once("close", () => {
    pasted.flush();
    quit();
  });
  try {
    printer.update();
    await left;
  } finally {
    stopListening();
    guard.end();
    giveBack?.();
    signal.removeEventListener("abort", quit);
    lines.close();
    stdin.pause();
    await session.close();
  }
  signal.throwIfAborted();
}
