/** Looking into JSON that a server wrote, where nothing is what it should be until it has been looked at. Pure. */

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is there under a key, and never what every object has. */
export function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function valuesOf(value: unknown): readonly unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

/** Whether a value nests so little that it can be written down: `JSON.stringify` fails on what does not. */
export function isShallow(value: unknown, levels = 500): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** The beginning of a text that may be of any length. */
export function clip(text: string, most: number): string {
  // Half of a character beyond the BMP is none.
  return text.length > most ? `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
}
