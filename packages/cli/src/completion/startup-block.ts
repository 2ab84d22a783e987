/** Adds and removes Fairlead's lines in the user's shell startup file, between two marker comments. Pure. */

const [begin, end] = ["# >>> fairlead completion >>>", "# <<< fairlead completion <<<"];
/** Includes the empty line that Fairlead puts before the block. */
const block = new RegExp(`(?:(?<=\\n)\\n)?^${begin}\\n[\\s\\S]*?^${end}$\\n?`, "m");

/** Returns the text unchanged if it already has the lines. */
export function withBlock(text: string, lines: readonly string[]): string {
  const ours = `${[begin, ...lines, end].join("\n")}\n`;
  if (text.includes(ours)) return text;
  const others = withoutBlock(text);
  return `${others}${others === "" || others.endsWith("\n") ? "" : "\n"}${others === "" ? "" : "\n"}${ours}`;
}

export function withoutBlock(text: string): string {
  return text.replace(block, "");
}
