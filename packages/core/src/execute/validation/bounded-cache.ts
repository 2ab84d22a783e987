/** A cache of values that are computed from texts. Drops the least recently used value first. */

/**
 * Creates a cache as a function. It returns the cached value of a key, or computes it with `make`. The keys of all
 * values together have at most `characters`.
 */
export function createBoundedCache<T>(
  limits: { readonly entries: number; readonly characters: number },
  make: (key: string) => T,
): (key: string) => T {
  const kept = new Map<string, T>();
  let characters = 0;
  let latest: { readonly key: string; readonly value: T } | undefined;
  return (key) => {
    if (latest?.key === key) return latest.value;
    const value = kept.get(key) ?? make(key);
    latest = { key, value };
    // Moves the key to the end of the map, so that the least recently used key is first.
    if (!kept.delete(key)) characters += key.length;
    kept.set(key, value);
    for (const oldest of kept.keys()) {
      if ((kept.size <= limits.entries && characters <= limits.characters) || oldest === key) break;
      kept.delete(oldest);
      characters -= oldest.length;
    }
    return value;
  };
}
