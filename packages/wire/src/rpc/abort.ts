/** Listening to a caller's signal, as many at once as there are requests. */

import { setMaxListeners } from "node:events";

const nothing = (): void => {};

/** Calls back once when it is aborted, or is already; returns the function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    callback();
    return nothing;
  }
  // Node takes more than ten listeners for a leak and says so on stderr; here every one of them is removed in time.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}
