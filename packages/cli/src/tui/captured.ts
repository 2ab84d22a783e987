/** Runs commands inside the app. Captures their output, and gives them no terminal to ask on. */

import { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { HostError } from "@fairlead/core/errors";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { createOutput, type Style } from "../output/output.ts";
import { globalWords } from "../shell/global-words.ts";
import type { Io } from "../shell/io.ts";
import type { Context } from "../shell/verb.ts";
import { typedHere } from "./slash/typed-here.ts";

export interface Captured<C> {
  readonly context: C;
  /** Returns the output so far, with shell commands rewritten as slash commands. */
  readonly text: () => string;
}

/**
 * Returns a copy of a command's context that captures the command's output. `columns`: the width at which lists wrap.
 * If undefined, nothing wraps.
 */
export function captured<C extends Pick<Context, "io" | "out">>(context: C, columns?: number): Captured<C> {
  const written: string[] = [];
  const stream = (): Writable =>
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    });
  const stdout = columns === undefined ? stream() : Object.assign(stream(), { isTTY: true, columns });
  const io: Io = { ...context.io, stdin: Readable.from([]), stdout, stderr: stream() };
  return {
    context: { ...context, io, out: createOutput(io, { quiet: false }) },
    // Removes the control sequences of Fairlead's own styles. The output contains no others, because it is safe text.
    text: () => typedHere(stripVTControlCharacters(written.join("")).trimEnd()),
  };
}

const asItIs = (text: SafeText): SafeText => text;
/** Leaves text unstyled, because the app applies its own styles. */
export const plainStyle: Style = {
  bold: asItIs,
  dim: asItIs,
  red: asItIs,
  green: asItIs,
  yellow: asItIs,
  cyan: asItIs,
};

/**
 * Runs a command and returns its output.
 * @throws HostError the command's error; its message starts with the output so far
 */
export async function runVerbHere(words: readonly string[], context: Context, columns: number): Promise<string> {
  const { context: quiet, text } = captured(context, columns);
  try {
    await context.runWords([...globalWords(context.globals), ...words], quiet.io, quiet.out);
  } catch (error) {
    if (!(error instanceof HostError) || text() === "") throw error;
    throw new HostError(error.code, `${text()}\n${error.message}`, {
      ...(error.next !== undefined && { next: error.next }),
    });
  }
  return text();
}
