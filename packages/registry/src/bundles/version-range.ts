/** Version ranges as npm writes them: `>=18`, `^20.1`, `~3.11`, `20.x`, `>=18 <23 || 24`. */

/** Whether a version is in the range. False for a range that cannot be read. */
export function isInRange(version: string, range: string): boolean {
  const numbers = toNumbers(version.replace(/^v/, ""));
  return numbers !== undefined && range.split("||").some((part) => isInAll(numbers, part.trim()));
}

function isInAll(version: readonly number[], range: string): boolean {
  const parts = range.replaceAll(/([<>=^~]+)\s+/g, "$1").split(/[\s,]+/);
  return parts.every((part) => part === "" || part === "*" || isIn(version, part));
}

function isIn(version: readonly number[], part: string): boolean {
  const [, sign = "", text = ""] = /^(>=|<=|>|<|=|==|\^|~|~=)?v?(.+)$/.exec(part) ?? [];
  const bound = toNumbers(text);
  if (bound === undefined) return false;
  const order = compare(version, bound);
  switch (sign) {
    case ">=":
      return order >= 0;
    case ">":
      return order > 0 && !isPrefix(bound, version);
    case "<":
      return order < 0;
    case "<=":
      return order <= 0 || isPrefix(bound, version);
    case "^":
      return order >= 0 && isPrefix(bound.slice(0, bound.findIndex((number) => number !== 0) + 1 || 1), version);
    case "~":
    case "~=":
      return order >= 0 && isPrefix(bound.slice(0, 2), version);
    default:
      return isPrefix(bound, version);
  }
}

/** The numbers before the first `x` or `*`. Undefined if there are others than numbers. */
function toNumbers(text: string): readonly number[] | undefined {
  const parts = text.replace(/[-+].*$/s, "").split(".");
  const end = parts.findIndex((part) => /^[x*]$/i.test(part));
  const numbers = (end < 0 ? parts : parts.slice(0, end)).map((part) =>
    /^\d{1,9}$/.test(part) ? Number(part) : Number.NaN,
  );
  return numbers.some(Number.isNaN) ? undefined : numbers;
}

function compare(a: readonly number[], b: readonly number[]): number {
  return b.map((number, at) => (a[at] ?? 0) - number).find((difference) => difference !== 0) ?? 0;
}

function isPrefix(prefix: readonly number[], version: readonly number[]): boolean {
  return prefix.every((number, at) => version[at] === number);
}
