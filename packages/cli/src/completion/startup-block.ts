/** Lines of ours in a startup file that is a person's own: between two marks, so that they can be found and taken out again. Pure. */

const [begin, end] = ["# >>> fairlead completion >>>", "# <<< fairlead completion <<<"];
/** With the empty line that we put before them. */
const block = new RegExp(`(?:(?<=\\n)\\n)?^${begin}\\n[\\s\\S]*?^${end}$\\n?`, "m");

/** The same text if the lines are there already. */
export function withBlock(text: string, lines: readonly string[]): string {
  const ours = `${[begin, ...lines, end].join("\n")}\n`;
  if (text.includes(ours)) return text;
  const others = withoutBlock(text);
  return `${others}${others === "" || others.endsWith("\n") ? "" : "\n"}${others === "" ? "" : "\n"}${ours}`;
}

export function withoutBlock(text: string): string {
  return text.replace(block, "");
}
