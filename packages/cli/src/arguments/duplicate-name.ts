/** Finds a key that an object in JSON text has twice: `JSON.parse` would silently keep the last value. Pure. */

/** Returns the first duplicate key. `json` must be valid JSON. */
export function duplicateName(json: string): string | undefined {
  /** The keys so far of each open object, innermost last. */
  const open: Set<string>[] = [];
  let text = "";
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === "{") open.push(new Set());
    else if (character === "}") open.pop();
    else if (character === '"') {
      const end = endOfText(json, at);
      text = json.slice(at, end);
      at = end - 1;
    } else if (character === ":") {
      // Keys may contain escapes such as \u0061.
      const name = String(JSON.parse(text));
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/** Returns the index after the closing quote. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
