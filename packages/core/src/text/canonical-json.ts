/** Writes JSON with sorted members, so that equal values have equal texts. */

/**
 * Recursion writes this many levels, and a loop writes deeper ones. A server's value may be nested deeper than the call
 * stack allows.
 */
const mostLevels = 100;

/**
 * Returns JSON without spaces. Leaves out members that are undefined, writes any other `undefined` as `null`, and
 * accepts any nesting depth.
 */
export function canonicalJson(value: unknown): string {
  return write(value, mostLevels);
}

/** Writes one value. Appends to a single string, because joining lists of short strings takes longer. */
function write(value: unknown, levels: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (levels === 0) return writeDeep(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === "" ? "" : ","}${write(item, levels - 1)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of sortedNames(members)) {
    const member = members[name];
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${write(member, levels - 1)}`;
  }
  return `{${text}}`;
}

/** Up to this many names are sorted without `sort`, which allocates a kilobyte even for two names. */
const fewNames = 16;

function sortedNames(members: object): readonly string[] {
  const names = Object.keys(members);
  if (names.length > fewNames) return names.sort();
  for (let end = 1; end < names.length; end += 1) {
    const name = names[end] ?? "";
    let at = end;
    for (let before = names[at - 1] ?? ""; at > 0 && before > name; before = names[at - 1] ?? "") {
      names[at] = before;
      at -= 1;
    }
    names[at] = name;
  }
  return names;
}

interface Open {
  readonly names: readonly string[] | undefined;
  readonly values: readonly unknown[];
  next: number;
}

function writeDeep(value: unknown): string {
  const open: Open[] = [];
  let text = begin(value, open);
  for (let within = open.at(-1); within !== undefined; within = open.at(-1)) {
    const { names, values, next } = within;
    if (next === values.length) {
      text += names ? "}" : "]";
      open.pop();
    } else {
      within.next += 1;
      text += `${next > 0 ? "," : ""}${names ? `${JSON.stringify(names[next])}:` : ""}${begin(values[next], open)}`;
    }
  }
  return text;
}

function begin(value: unknown, open: Open[]): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) {
    open.push({ names: undefined, values: value, next: 0 });
    return "[";
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  open.push({ names: members.map(([name]) => name), values: members.map(([, member]) => member), next: 0 });
  return "{";
}
