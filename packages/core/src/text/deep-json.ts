/** Writes a server's value as JSON. Parts that are nested too deeply are replaced by a description. */

/** If the value is nested too deeply for the call stack, only this many levels are written. */
const kept = 100;
const description = "(nested too deeply to show)";

type Replacer = (key: string, value: unknown) => unknown;

/** Like `JSON.stringify`, but does not fail if the value is nested too deeply. */
export function writeJson(value: unknown, indent = 0, replacer?: Replacer): string {
  return (
    attempt(() => JSON.stringify(value, replacer, indent)) ??
    attempt(() => JSON.stringify(upTo(kept, value), replacer, indent)) ??
    // Without indentation, because the indentation of very many lines can make the text too long for a string.
    JSON.stringify(upTo(kept, value), replacer)
  );
}

/** Returns undefined if the value is nested too deeply for the call stack, or the text is too long for a string. */
function attempt(write: () => string): string | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function upTo(levels: number, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return description;
  if (Array.isArray(value)) return value.map((item) => upTo(levels - 1, item));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, upTo(levels - 1, member)]));
}
