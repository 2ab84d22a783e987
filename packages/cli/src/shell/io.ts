/** The outside world as a parameter: what a command may read and write. Tests pass their own. */

import type { Readable, Writable } from "node:stream";

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Aborted by Ctrl-C, or whatever else asks the process to end; the second time, it ends at once. */
  readonly signal: AbortSignal;
  /** From then on Ctrl-C is this one's to deal with; returns the function that gives it back. Absent where there is no keyboard. */
  readonly takeInterrupts?: (onInterrupt: () => void) => () => void;
}
