/** Waits for work that several callers share. If one caller's signal is aborted, only that caller stops waiting. */

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
