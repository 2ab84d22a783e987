/** A foreign name as one word of a command that a person may copy into a shell. */

const plain = /^[\w@%+=:,./-]+$/;

/** Quoted where a shell would see more than a word; after `--` where the command would see an option. */
export function toShellWord(text: string): string {
  const word = plain.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return text.startsWith("-") ? `-- ${word}` : word;
}
