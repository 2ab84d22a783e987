/**
 * Estimates how much memory a parsed JSON value takes. A list of empty objects takes twenty times as much as its text.
 */

/** The bytes that V8 needs for an empty object or list, roughly. */
const perValue = 32;
const perScalar = 8;
/**
 * Down to this depth, values are counted with recursion, which is faster. Deeper values are counted with a loop,
 * because recursion could overflow the stack.
 */
const mostLevels = 100;

/** Returns the estimate in bytes. Stops counting above `most`. */
export function memoryOf(value: unknown, most: number): number {
  return memoryWithin(value, most, mostLevels);
}

/** Reads one member at a time, because `Object.values` would allocate a list for each object. */
function memoryWithin(value: unknown, most: number, levels: number): number {
  if (typeof value === "string") return Buffer.byteLength(value);
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
    if (typeof next === "string") bytes += Buffer.byteLength(next);
    else if (typeof next === "object" && next !== null) {
      bytes += perValue;
      for (const member of Array.isArray(next) ? next : Object.values(next)) open.push(member);
    } else bytes += perScalar;
  }
  return bytes;
}
