/** Runs an asynchronous function once and shares its result. */

/** Returns a function that calls `make` the first time and returns the same promise after that. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
