/** Asking a person: only on a terminal, on stderr, and Enter means no. */

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { Io } from "./io.ts";

/** The question is written to stderr and answered on stdin: both must be a terminal. */
export function canAsk({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

export async function confirm(io: Io, question: SafeText): Promise<boolean> {
  const answer = await ask(io, safe`${question} [y/N] `, { hidden: false });
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

/** One line, as it was typed or pasted; the end of input is an empty one. */
export async function askLine(io: Io, question: SafeText): Promise<string> {
  return (await askLineOrEnd(io, question)) ?? "";
}

/** Undefined at the end of input. */
export function askLineOrEnd(io: Io, question: SafeText): Promise<string | undefined> {
  return ask(io, question, { hidden: false });
}

/** Reads one line that is not shown; nothing stands in for its characters either. */
export async function askHidden(io: Io, question: SafeText): Promise<string> {
  const answer = await ask(io, question, { hidden: true });
  io.stderr.write("\n");
  return answer ?? "";
}

/**
 * One line from the terminal; undefined at the end of input.
 * Each question has its own reader, so several lines pasted at once answer one question, not the next ones too.
 */
function ask(
  { stdin, stderr, signal }: Io,
  question: SafeText,
  { hidden }: { readonly hidden: boolean },
): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: true, historySize: 0 });
  return new Promise((resolve, reject) => {
    // The first to settle wins, and closing settles too.
    const cancel = (): void => {
      reject(new HostError("cancelled", "cancelled; nothing was changed"));
      reader.close();
    };
    const settle = (answer?: string): void => {
      resolve(answer);
      signal.removeEventListener("abort", cancel);
      reader.close();
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    reader.once("SIGINT", cancel);
    reader.once("close", () => settle());
    // Asked only now that the reader has switched the terminal's own echo off.
    if (hidden) stderr.write(question);
    reader.question(hidden ? "" : question, settle);
  });
}
