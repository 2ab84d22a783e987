/** Groups items by a key. Pure. (`Map.groupBy` is not in Node 20.) */

/** The items that share one key. A group contains at least one item. */
export type Group<T> = readonly [first: T, ...others: T[]];

/** The groups, in the order in which their keys first occur. */
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
