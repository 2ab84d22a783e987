/** Groups tools by their servers, in the order of the first tool of each. Pure. */
export function groupByServer<T>(
  items: readonly T[],
  serverOf: (item: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const server = serverOf(item);
    const group = groups.get(server);
    if (group === undefined) groups.set(server, [item]);
    else group.push(item);
  }
  return groups;
}
