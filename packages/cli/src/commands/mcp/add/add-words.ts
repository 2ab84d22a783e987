/** Splits the command line of `mcp add`: all words after a command belong to the server. */

import type { Words } from "../../../shell/verb.ts";

const withValue = new Set(
  "-s --scope -t --transport -e --env -H --header --timeout --description --include-tools --exclude-tools --cwd -C --settings".split(
    " ",
  ),
);
const switches = new Set(
  "--trust --replace --no-test --no-approve --json -q --quiet --no-workspace --trust-workspace --debug -h --help".split(
    " ",
  ),
);

/** Tells whether the word after the name is a URL, a JSON snippet or a command. */
export function targetKind(word: string): "url" | "snippet" | "command" {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return "url";
  // Snippets are often copied without the braces around them: "github": { … }
  return /^\s*(\{|"[^"]+"\s*:\s*\{)/.test(word) ? "snippet" : "command";
}

export function splitAddWords(words: readonly string[]): Words {
  const options: string[] = [];
  const operands: string[] = [];
  let dashes = false;
  let at = 0;
  while (at < words.length && operands.length < 2) {
    const word = words[at] ?? "";
    const size = !dashes && withValue.has(word) ? 2 : 1;
    if (word === "--" && !dashes) dashes = true;
    else if (dashes || !word.startsWith("-")) operands.push(word);
    else options.push(...words.slice(at, at + size));
    at += size;
  }
  // A URL or a snippet takes no arguments, so Fairlead's options may follow it.
  if (operands.some((operand) => targetKind(operand) !== "command")) return { ours: words, rest: [] };
  if (words[at] === "--" && !dashes) at += 1;
  return { ours: [...options, "--", ...operands], rest: words.slice(at) };
}

/** Server arguments that look like Fairlead's options: the user may have misplaced them. */
export function lookalikes(rest: readonly string[]): string[] {
  const names = rest.map((word) => (word.startsWith("--") ? (word.split("=")[0] ?? "") : word));
  return [...new Set(names.filter((name) => withValue.has(name) || switches.has(name)))];
}
