/** Estimates how much memory a parsed JSON value takes: many empty objects take twenty times their text. */

/** About what V8 needs for an object, a list or a number beside its members. */
const perValue = 32;

/** The estimate in bytes; counting stops above `most`. Without recursion, because a value may be nested deeply. */
export function memoryOf(value: unknown, most: number): number {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0 && bytes <= most) {
    const next = open.pop();
    if (typeof next === "string") bytes += next.length;
    else if (typeof next === "object" && next !== null) {
      bytes += perValue;
      for (const member of Array.isArray(next) ? next : Object.values(next)) open.push(member);
    } else bytes += 8;
  }
  return bytes;
}
