/**
 * The signals of requests, and waiting for work that several callers share: if the signal of one
 * caller is aborted, only that caller stops waiting.
 */

import type { RequestStop } from "@fairlead/wire";

/**
 * Tells whether and why a request is aborted. A request of a gateway's client has no `AbortSignal`, because creating one
 * costs as much as sending the request.
 */
export type RequestSignal = AbortSignal | RequestStop;

/** The signal for code that needs a real `AbortSignal`. */
export function toAbortSignal(signal: RequestSignal): AbortSignal {
  return "onAbort" in signal ? signal.signal : signal;
}

/** Waits for `shared`. Rejects with `why()` when the signal is aborted; `shared` then continues for other callers. */
export function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal | undefined, why: () => Error): Promise<T> {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(why());
    const stay = (): void => signal.removeEventListener("abort", leave);
    signal.addEventListener("abort", leave, { once: true });
    shared.then(resolve, reject).finally(stay);
    if (signal.aborted) leave();
  });
}
