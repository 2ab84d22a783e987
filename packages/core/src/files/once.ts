/** Work that is done when it is first needed, and only once. */

/** Returns a function that calls `make` once. Later calls return the same promise. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
