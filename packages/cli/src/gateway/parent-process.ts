/** Watches the program that started `fairlead serve`. After this program has ended, nothing reads the responses. */

import type { Readable } from "node:stream";

/** Milliseconds between two checks. Node has no event for the end of the parent process. */
const checkTime = 1000;

interface ParentWatch {
  /** Aborts when stdin has ended and the parent process has ended too. Never aborts on Windows. */
  readonly signal: AbortSignal;
  stop(): void;
}

/**
 * Starts to watch the parent process when stdin ends. If the parent ends, this process gets another parent, so the
 * parent's id changes.
 * @param parentOf Returns the id of the current parent process.
 */
export function watchParent(stdin: Readable, parentOf: () => number = () => process.ppid): ParentWatch {
  const ended = new AbortController();
  const parent = parentOf();
  let timer: NodeJS.Timeout | undefined;
  const onEnd = (): void => {
    timer ??= setInterval(() => {
      if (parentOf() !== parent) ended.abort();
    }, checkTime).unref();
  };
  stdin.once("end", onEnd);
  return {
    signal: ended.signal,
    stop() {
      stdin.off("end", onEnd);
      clearInterval(timer);
    },
  };
}
