/** Names that stand twice in one object of a JSON text: parsing would keep the last value, and say nothing. Pure. */

/** The first such name. The text is JSON. */
export function duplicateName(json: string): string | undefined {
  /** The names so far, for each object that is open; the innermost is the last. */
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
      // Letters may be written by their numbers.
      const name = String(JSON.parse(text));
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/** The place after its closing quote. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
