/** Waiting for something shared: who waits may leave, and it goes on for those who stay. */

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
