/** How large a value is, without looking at more of it than is allowed. */

export interface ValueSize {
  /** Objects, lists and everything in them. */
  readonly nodes: number;
  /** Characters in texts and in property names. */
  readonly characters: number;
}

/** `undefined` if it is larger than that, or has no end. */
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
