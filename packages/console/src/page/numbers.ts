/** Numbers as a person reads them at a glance. An unknown number is a dash, never a zero. */

/** Writes a count short: `940`, `3.1k`, `2.4M`. */
export function shortNumber(value: number | undefined): string {
  if (value === undefined) return "–";
  if (value < 1000) return String(value);
  const [divisor, unit] = value < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  const scaled = value / divisor;
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** Writes a count with its noun: `1 tool`, `14 tools`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
