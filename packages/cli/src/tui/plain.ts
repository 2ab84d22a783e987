/** `fairlead --plain`: the same session, line by line, without moving the cursor. What is said is printed once, when it is whole. */

import { createInterface } from "node:readline";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Context } from "../verb.ts";
import type { Key } from "./input/keys.ts";
import { openSession } from "./open-session.ts";
import { lineKeys } from "./plain/line-keys.ts";
import { createPlainPrinter } from "./plain/printer.ts";

const ctrlC: Key = { name: "text", text: "c", ctrl: true };
/** Nothing is cut for the sake of a screen. */
const endless = 1_000_000;

/** Resolves when the person has left. */
export async function runPlain(context: Context, configuration: Configuration): Promise<void> {
  const { stdin, stdout, signal, takeInterrupts } = context.io;
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const { session, close } = openSession(context, configuration, {
    size: { columns: stdout.columns ?? 80, rows: endless },
    hasScreen: false,
    onQuit: () => leave?.(),
    onRedraw: () => {},
  });
  const { get, subscribe, dispatch } = session.store;
  const printer = createPlainPrinter({ get, dispatch, write: (text) => void stdout.write(text) });
  const stopListening = subscribe(printer.update);
  const giveBack = takeInterrupts?.(() => session.press(ctrlC));
  const quit = (): void => session.quit();
  signal.addEventListener("abort", quit, { once: true });
  const lines = createInterface({ input: stdin, terminal: false });
  lines.on("line", (line) => {
    printer.entered();
    for (const key of lineKeys(get(), line)) session.press(key);
    printer.update();
  });
  lines.once("close", quit);
  try {
    printer.update();
    await left;
  } finally {
    stopListening();
    giveBack?.();
    signal.removeEventListener("abort", quit);
    lines.close();
    stdin.pause();
    await close();
  }
  signal.throwIfAborted();
}
