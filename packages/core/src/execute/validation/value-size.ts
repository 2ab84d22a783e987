/** Measures a value, and stops at a limit. */

/** The size of a value. */
export interface ValueSize {
  /** The number of objects, lists and values in them. */
  readonly nodes: number;
  /** The number of characters in texts and property names. */
  readonly characters: number;
}

/** Returns the size; undefined if it is over the limit or the value is circular. */
export function measure(value: unknown, limit: ValueSize): ValueSize | undefined {
  const left: unknown[] = [value];
  let [nodes, characters] = [0, 0];
  while (left.length > 0) {
    const next = left.pop();
    nodes += 1;
    if (typeof next === "string") characters += next.length;
    else if (Array.isArray(next)) {
      if (nodes + left.length + next.length > limit.nodes) return undefined;
      for (const item of next) left.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const [name, member] of Object.entries(next)) {
        characters += name.length;
        left.push(member);
      }
    }
    if (nodes + left.length > limit.nodes || characters > limit.characters) return undefined;
  }
  return { nodes, characters };
}
