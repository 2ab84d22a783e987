/** Compares JSON values. Creates no text and does not recurse, because a server can send very large or deep values. */

/** Whether two JSON values are equal. The order of object members does not matter. */
export function isSameJson(one: unknown, other: unknown): boolean {
  const pairs: [unknown, unknown][] = [[one, other]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair;
    if (Object.is(left, right)) continue;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
    if (Array.isArray(left) !== Array.isArray(right)) return false;
    const members = membersOf(left);
    const others = new Map(membersOf(right));
    if (members.length !== others.size) return false;
    for (const [name, member] of members) {
      if (!others.has(name)) return false;
      pairs.push([member, others.get(name)]);
    }
  }
  return true;
}

function membersOf(value: object): readonly [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
