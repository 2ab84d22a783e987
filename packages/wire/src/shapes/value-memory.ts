/** Estimates how much memory a parsed JSON value takes. Many empty objects take twenty times the size of their text. */

/** The approximate number of bytes that V8 needs for an object, a list or a number, without its members. */
const perValue = 32;
const perScalar = 8;
/**
 * Maximum depth of recursion. Deeper values are counted without recursion, because a value may be nested deeper than
 * the stack allows.
 */
const mostLevels = 100;

/** Returns the estimate in bytes. Stops counting above `most`. */
export function memoryOf(value: unknown, most: number): number {
  return memoryWithin(value, most, mostLevels);
}

/**
 * Estimates a value. The loops read one member at a time, because lists of all members would create megabytes of
 * garbage.
 */
function memoryWithin(value: unknown, most: number, levels: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return perScalar;
  if (levels === 0) return memoryOfDeep(value, most);
  let bytes = perValue;
  if (Array.isArray(value))
    for (let at = 0; at < value.length && bytes <= most; at += 1) bytes += memoryWithin(value[at], most, levels - 1);
  else
    for (const name in value) {
      bytes += memoryWithin((value as Readonly<Record<string, unknown>>)[name], most, levels - 1);
      if (bytes > most) break;
    }
  return bytes;
}

function memoryOfDeep(value: unknown, most: number): number {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0 && bytes <= most) {
    const next = open.pop();
    if (typeof next === "string") bytes += next.length;
    else if (typeof next === "object" && next !== null) {
      bytes += perValue;
      for (const member of Array.isArray(next) ? next : Object.values(next)) open.push(member);
    } else bytes += perScalar;
  }
  return bytes;
}
