/** Asks questions on the terminal: writes to stderr and reads from stdin. Enter means no. */

import { type AsyncCompleter, createInterface } from "node:readline";
import { addAbortSignal, Writable } from "node:stream";
import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Io } from "./verb.ts";

/** Whether both stdin and stderr are terminals. */
export function canAsk({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks a yes-or-no question. Every answer except `y` and `yes` means no. */
export async function confirm(io: Io, question: SafeText): Promise<boolean> {
  const answer = await ask(io, safe`${question} [y/N] `, { hidden: false });
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

/**
 * Asks a question with several answers, each a letter. Enter means the first of them. Another answer asks again.
 *
 * @throws HostError `cancelled` at the end of input: there is no answer to act on
 */
export async function choose<const Letter extends string>(
  io: Io,
  question: SafeText,
  letters: readonly [Letter, ...Letter[]],
): Promise<Letter> {
  const [first] = letters;
  const shown = toSafeLine([first.toUpperCase(), ...letters.slice(1)].join("/"));
  for (;;) {
    const answer = await ask(io, safe`${question} [${shown}] `, { hidden: false });
    if (answer === undefined) throw new HostError("cancelled", "cancelled; nothing was changed");
    const typed = answer.trim().toLowerCase();
    const letter = typed === "" ? first : letters.find((one) => typed === one || (one === "y" && typed === "yes"));
    if (letter !== undefined) return letter;
  }
}

/** Asks for one typed or pasted line. Returns "" at the end of input. */
export async function askLine(io: Io, question: SafeText): Promise<string> {
  return (await askLineOrEnd(io, question)) ?? "";
}

/** Asks for one line. Returns undefined at the end of input. `complete`: what the Tab key offers for the typed text. */
export function askLineOrEnd(
  io: Io,
  question: SafeText,
  complete?: (typed: string) => Promise<readonly string[]>,
): Promise<string | undefined> {
  return ask(io, question, { hidden: false, complete });
}

/** Reads one line without echo, not even asterisks. Returns "" at the end of input. */
export async function askHidden(io: Io, question: SafeText): Promise<string> {
  return (await askHiddenOrEnd(io, question)) ?? "";
}

/** Reads one line without echo. Returns undefined at the end of input. */
export async function askHiddenOrEnd(io: Io, question: SafeText): Promise<string | undefined> {
  const answer = await ask(io, question, { hidden: true });
  io.stderr.write("\n");
  return answer;
}

interface PromptOptions {
  readonly hidden: boolean;
  readonly complete?: ((typed: string) => Promise<readonly string[]>) | undefined;
}

/** The form that Node's reader takes. */
function completerFor(complete: (typed: string) => Promise<readonly string[]>): AsyncCompleter {
  return (typed, done) => {
    complete(typed).then(
      (found) => done(null, [[...found], typed]),
      () => done(null, [[], typed]),
    );
  };
}

/** Asks one question with its own reader, so that several pasted lines answer only one question. */
function ask(
  { stdin, stderr, signal }: Io,
  question: SafeText,
  { hidden, complete }: PromptOptions,
): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = hidden ? silent : stderr;
  const completer = complete && completerFor(complete);
  const reader = createInterface({
    input: stdin,
    output,
    terminal: true,
    historySize: 0,
    ...(completer && { completer }),
  });
  return new Promise((resolve, reject) => {
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
    // The reader turns off the terminal's echo, so the reader is created before the question appears.
    if (hidden) stderr.write(question);
    reader.question(hidden ? "" : question, settle);
  });
}

/** Reads stdin to its end. @throws HostError `too_large` with the given message */
export async function readStdin({ stdin, signal }: Io, mostBytes: number, tooLarge: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of addAbortSignal(signal, stdin) as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > mostBytes) throw new HostError("too_large", tooLarge);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
