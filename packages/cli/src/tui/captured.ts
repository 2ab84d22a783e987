/** A command of ours inside the app: what it prints is caught, and there is nobody whom it could ask. */

import { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { createOutput, type Style } from "../output/output.ts";
import type { Io } from "../shell/io.ts";
import type { Context } from "../shell/verb.ts";
import { typedHere } from "./slash/typed-here.ts";

export interface Captured<C> {
  readonly context: C;
  /** What it has printed so far, with the commands in it as they are typed here. */
  readonly text: () => string;
}

/** `columns`: lists are wrapped for that width. */
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
    // Output prints safe text only: what is stripped is its own bold and colours.
    text: () => typedHere(stripVTControlCharacters(written.join("")).trimEnd()),
  };
}

const asItIs = (text: SafeText): SafeText => text;
/** For lists of the command that are shown in the app, which has its own emphasis. */
export const plainStyle: Style = {
  bold: asItIs,
  dim: asItIs,
  red: asItIs,
  green: asItIs,
  yellow: asItIs,
  cyan: asItIs,
};
