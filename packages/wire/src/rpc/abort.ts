/** Listens to an `AbortSignal` that many requests may share. */

import { setMaxListeners } from "node:events";

const nothing = (): void => {};

/** Calls back once when the signal is aborted, at once if it already is. Returns the function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    callback();
    return nothing;
  }
  // Node warns on stderr about more than ten listeners; here each one is removed when its request ends.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}
