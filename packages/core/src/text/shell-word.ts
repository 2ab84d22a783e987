/** Writes a foreign name as one word of a command that a person may copy into a shell. */

const plain = /^[\w@%+=:,./-]+$/;

/** Quotes the name if a shell would split or expand it. Adds `--` before a name that looks like an option. */
export function toShellWord(text: string): string {
  const word = plain.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return text.startsWith("-") ? `-- ${word}` : word;
}
