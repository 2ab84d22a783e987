/** The process's streams, environment and signals, passed as a parameter so that tests can use their own. */

import type { Readable, Writable } from "node:stream";
import type { Clock } from "@fairlead/core/clock";

/** What a command may use of the process. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** How this program was started: the path of Node and the path of the main script. The single executable has none. */
  readonly program?: { readonly node: string; readonly file?: string };
  /** Aborts on Ctrl-C and other termination signals. A second signal ends the process at once. */
  readonly signal: AbortSignal;
  /** Passes Ctrl-C to `onInterrupt` instead of aborting `signal`. Returns the function that undoes this. */
  readonly takeInterrupts?: (onInterrupt: () => void) => () => void;
  /** Measures how long the IDE may take to answer. Default: the system's clock. */
  readonly clock?: Clock;
}
