/** Waits for a promise for a limited time. */

/** Returns the promise's value, or undefined if the promise takes longer than `milliseconds`. */
export async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves with true if the promise resolves within `milliseconds`, otherwise with false. Rejects if it rejects in
 * time.
 */
export async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return (
    (await within(
      promise.then(() => true),
      milliseconds,
    )) === true
  );
}
