/** Runs commands inside the app and captures their output. The commands cannot ask the user anything. */

import { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { HostError } from "@fairlead/core/errors";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { createOutput, type Style } from "../output/output.ts";
import { type Context, globalWords, type Io } from "../shell/verb.ts";
import { typedHere } from "./slash/typed-here.ts";

/** A context for a command, and the output that the command writes with it. */
export interface Captured<C> {
  readonly context: C;
  /**
   * Returns the output so far. `fairlead mcp list` in the output becomes `/mcp list`, which the user can type in the
   * app.
   */
  readonly text: () => string;
}

/** Returns a copy of the context whose output is captured. Lists wrap at `columns`, or never if it is undefined. */
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
    // Removes only Fairlead's own colours. Safe text contains no other control sequences.
    text: () => typedHere(stripVTControlCharacters(written.join("")).trimEnd()),
  };
}

const asItIs = (text: SafeText): SafeText => text;
/** Styles that change nothing, because the app applies its own styles. */
export const plainStyle: Style = {
  bold: asItIs,
  dim: asItIs,
  red: asItIs,
  green: asItIs,
  yellow: asItIs,
  cyan: asItIs,
};

/**
 * Runs a command and returns its output. `words`: the command line without `fairlead`.
 * @throws HostError of the command; its message begins with the captured output
 */
export async function runVerbHere(words: readonly string[], context: Context, columns: number): Promise<string> {
  const { context: quiet, text } = captured(context, columns);
  try {
    await context.runWords([...globalWords(context.globals), ...words], quiet.io, quiet.out);
  } catch (error) {
    if (!(error instanceof HostError) || text() === "") throw error;
    throw new HostError(error.code, `${text()}\n${error.message}`, { next: error.next });
  }
  return text();
}
