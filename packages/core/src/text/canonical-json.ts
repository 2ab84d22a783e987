/** Writes JSON with sorted members, so that equal values have equal texts. */

/** An object or list that is being written. */
interface Open {
  readonly value: Readonly<Record<string, unknown>>;
  /** The sorted names of the members that are defined; undefined for a list. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  next: number;
}

/** Without recursion, because a server's value may be nested deeper than the stack. */
export function canonicalJson(value: unknown): string {
  const open: Open[] = [];
  let text = begin(value, open);
  for (let within = open.at(-1); within !== undefined; within = open.at(-1)) {
    const { names, length, next } = within;
    if (next === length) {
      text += names ? "}" : "]";
      open.pop();
      continue;
    }
    within.next += 1;
    if (next > 0) text += ",";
    const name = names?.[next];
    if (name !== undefined) text += `${JSON.stringify(name)}:`;
    text += begin(within.value[name ?? next], open);
  }
  return text;
}

function begin(value: unknown, open: Open[]): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(value)) {
    open.push({ value: members, names: undefined, length: value.length, next: 0 });
    return "[";
  }
  const names = Object.keys(members)
    .filter((name) => members[name] !== undefined)
    .sort();
  open.push({ value: members, names, length: names.length, next: 0 });
  return "{";
}
