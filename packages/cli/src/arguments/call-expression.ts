/** Parses a call expression, `server.tool(a: 1, b: "x")`. Pure. */

import { createLiteralReader, type LiteralReader } from "./literal.ts";

export interface CallExpression {
  /** The text before the parenthesis. */
  readonly target: string;
  /** Positional values, in the order of the tool's signature. */
  readonly positional: readonly unknown[];
  readonly named: ReadonlyMap<string, unknown>;
}

/** Returns undefined for a word without "(". @throws HostError `arguments_invalid` with the position of the mistake */
export function parseCallExpression(word: string): CallExpression | undefined {
  const open = word.indexOf("(");
  if (open <= 0) return undefined;
  // Spaces replace the target, so that reported positions match the typed word.
  const reader = createLiteralReader(" ".repeat(open + 1) + word.slice(open + 1));
  const positional: unknown[] = [];
  const named = new Map<string, unknown>();
  while (!reader.take(")")) {
    if (reader.isAtEnd()) throw reader.mistake('")" is missing');
    const name = readName(reader);
    if (name === undefined && named.size > 0) throw reader.mistake("positional values must come before named values");
    if (name !== undefined && named.has(name)) throw reader.mistake(`"${name}" is given twice`);
    if (name === undefined) positional.push(reader.value());
    else named.set(name, reader.value());
    if (reader.take(",")) continue;
    if (reader.peek() !== ")") throw reader.mistake('"," or ")" is missing');
  }
  if (!reader.isAtEnd()) throw reader.mistake('unexpected text after the closing ")"');
  return { target: word.slice(0, open).trim(), positional, named };
}

/** Reads a name followed by ":" or "="; otherwise goes back, because the text is a value. */
function readName(reader: LiteralReader): string | undefined {
  const goBack = reader.mark();
  const name = reader.name();
  if (name !== undefined && reader.take(":=")) return name;
  goBack();
  return undefined;
}
