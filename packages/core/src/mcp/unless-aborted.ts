/** Waits for work that several callers share. Aborting the signal ends only the waiting, not the work. */

/** Rejects with `why()` when the signal is aborted; `shared` continues for other callers. */
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
