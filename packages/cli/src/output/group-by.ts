/** Groups items by a key, in the order in which each key first occurs. Pure. */

export type Group<T> = readonly [first: T, ...others: T[]];

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, Group<T>> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
