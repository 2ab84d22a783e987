/** Removes rules from a policy file of the user. The rest of the file stays unchanged, byte for byte. */

import { updateText } from "../../files/atomic/update-text.ts";
import { eolOf } from "../../files/json/text-layout.ts";
import { type RuleInFile, rulesParser } from "./write-rule.ts";

/** A rule that was removed. */
export interface RemovedRule {
  /** The line of the rule's `[[rule]]` before the removal. */
  readonly line: number;
  /** The members of the rule, as written. */
  readonly members: Readonly<Record<string, unknown>>;
}

/**
 * Removes the rules that `isMeant` selects, and the comments inside them. Comments above a rule stay.
 *
 * @throws HostError `settings_invalid` if the file is not valid TOML, `busy`, `internal` if it cannot be written
 */
export async function removeRules(
  file: string,
  isMeant: (rule: RuleInFile) => boolean,
): Promise<readonly RemovedRule[]> {
  const parse = await rulesParser(file);
  let removed: readonly RemovedRule[] = [];
  await updateText(file, (text) => {
    if (text === undefined) return undefined;
    // Removes the byte order mark, because the parser rejects it.
    const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    const before = text.slice(bom.length);
    const found = parse(before).filter(isMeant);
    removed = found.map(({ line, members, value }) => ({
      line,
      members: Object.fromEntries([...members.keys()].map((name) => [name, value(name)])),
    }));
    return bom + found.reduceRight(without, before);
  });
  return removed;
}

/** Removes the lines of a rule, and one empty line before them, which Fairlead adds together with a rule. */
function without(text: string, { range: [start, end] }: RuleInFile): string {
  const eol = eolOf(text);
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", end);
  const head = text.slice(0, lineStart);
  const rest = lineEnd === -1 ? "" : text.slice(lineEnd + 1);
  if (head === "") return rest.startsWith(eol) ? rest.slice(eol.length) : rest;
  return (head.endsWith(eol + eol) ? head.slice(0, -eol.length) : head) + rest;
}
