/** The position of the cursor: the command, the words before it, and the current word. */

import type { Io } from "../shell/io.ts";
import type { Typed } from "./typed-words.ts";

export interface Cursor {
  /** The command's name: `mcp get`. */
  readonly words: string;
  readonly typed: Typed;
  /** The current word, or the value part of `--option=value`. */
  readonly current: string;
  readonly io: Io;
}
