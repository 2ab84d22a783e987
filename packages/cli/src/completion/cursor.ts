/** Where the cursor is: in which command, after which words, and in the middle of which. */

import type { Io } from "../shell/io.ts";
import type { Typed } from "./typed-words.ts";

export interface Cursor {
  /** Those of the command: `mcp get`. */
  readonly words: string;
  readonly typed: Typed;
  /** The word so far, or the value in it that is meant. */
  readonly current: string;
  readonly io: Io;
}
