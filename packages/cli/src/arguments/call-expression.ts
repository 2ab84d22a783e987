/** A call written as in code, `server.tool(a: 1, b: "x")`, taken apart. Pure. */

import { createLiteralReader, type LiteralReader } from "./literal.ts";

export interface CallExpression {
  /** What stands before the parenthesis. */
  readonly target: string;
  /** Values without a name come first, in the order of the tool's signature. */
  readonly positional: readonly unknown[];
  readonly named: ReadonlyMap<string, unknown>;
}

/** Undefined for a word that is not of that form. Throws `arguments_invalid`, with the place in the word. */
export function parseCallExpression(word: string): CallExpression | undefined {
  const open = word.indexOf("(");
  if (open <= 0) return undefined;
  // Blanks in place of what is before keep every position.
  const reader = createLiteralReader(" ".repeat(open + 1) + word.slice(open + 1));
  const positional: unknown[] = [];
  const named = new Map<string, unknown>();
  while (!reader.take(")")) {
    if (reader.isAtEnd()) throw reader.mistake('")" is missing');
    const name = readName(reader);
    if (name === undefined && named.size > 0)
      throw reader.mistake("a value without a name comes after one with a name");
    if (name !== undefined && named.has(name)) throw reader.mistake(`"${name}" is given twice`);
    if (name === undefined) positional.push(reader.value());
    else named.set(name, reader.value());
    if (reader.take(",")) continue;
    if (reader.peek() !== ")") throw reader.mistake('"," or ")" is missing');
  }
  if (!reader.isAtEnd()) throw reader.mistake('nothing may follow the closing ")"');
  return { target: word.slice(0, open).trim(), positional, named };
}

/** A name is one only with a colon, or an equals sign, behind it: otherwise it begins a value. */
function readName(reader: LiteralReader): string | undefined {
  const goBack = reader.mark();
  const name = reader.name();
  if (name !== undefined && reader.take(":=")) return name;
  goBack();
  return undefined;
}
