/** Waiting for something, but not for ever. */

/** What the promise brings, if it does so in time. */
export async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tired = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, tired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the promise brings anything in time. */
export async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return (
    (await within(
      promise.then(() => true),
      milliseconds,
    )) === true
  );
}
