/** Remembers what was made from a text; what was not asked for the longest is forgotten first. */

export interface CacheLimits {
  readonly entries: number;
  /** Of all keys together. */
  readonly characters: number;
}

export function createBoundedCache<T>(limits: CacheLimits, make: (key: string) => T): (key: string) => T {
  const kept = new Map<string, T>();
  let characters = 0;
  return (key) => {
    const known = kept.get(key);
    const value = known ?? make(key);
    // To the end: a map keeps its order.
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
