/**
 * Parses a call expression, `server.tool(a: 1, b: "x")`, and the literals in it. Never evaluates code. Pure functions.
 */

import { HostError } from "@fairlead/core/errors";
import { inexactNumber } from "@fairlead/core/plain-text";

/** A parsed call such as `files.read("a.txt", limit: 3)`. */
export interface CallExpression {
  /** The text before the opening parenthesis. */
  readonly target: string;
  /** Positional values, in the order of the tool's signature. */
  readonly positional: readonly unknown[];
  readonly named: ReadonlyMap<string, unknown>;
}

/**
 * Parses a call expression. Returns undefined for a word without "(".
 * @throws HostError `arguments_invalid` with the position of the mistake
 */
export function parseCallExpression(word: string): CallExpression | undefined {
  const open = word.indexOf("(");
  if (open <= 0) return undefined;
  // The text before the arguments is replaced by spaces, so that positions in error messages match the typed word.
  const reader = new LiteralReader(" ".repeat(open + 1) + word.slice(open + 1));
  const positional: unknown[] = [];
  const named = new Map<string, unknown>();
  while (!reader.take(")")) {
    if (reader.isAtEnd()) throw reader.mistake('")" is missing');
    const name = reader.argumentName();
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

const deepest = 64;
const blank = /\s*/y;
const bareName = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainText = /[^"'\\]+/y;
const codePoint = /u\{[\da-fA-F]{1,6}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}/y;
const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
]);

/** A cursor over the text. Every error message names the cursor's position. */
class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    return this.peek() === "";
  }

  /** Reads a name followed by ":" or "=". Otherwise moves the cursor back, because the text is a positional value. */
  argumentName(): string | undefined {
    const start = this.#at;
    const name = this.name();
    if (name !== undefined && this.take(":=")) return name;
    this.#at = start;
    return undefined;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  peek(): string {
    this.#match(blank);
    return this.#text.charAt(this.#at);
  }

  /** Skips whitespace. If the next character is one of `characters`, reads this character and returns true. */
  take(characters: string): boolean {
    const next = this.peek();
    if (next === "" || !characters.includes(next)) return false;
    this.#at += 1;
    return true;
  }

  mistake(what: string): HostError {
    return new HostError("arguments_invalid", `character ${this.#at + 1}: ${what}`);
  }

  value(depth = 0): unknown {
    const next = this.peek();
    if (depth > deepest) throw this.mistake(`nested more than ${deepest} levels deep`);
    if (next === '"' || next === "'") return this.#quoted();
    if (this.take("[")) return this.#list(depth);
    if (this.take("{")) return this.#object(depth);
    const start = this.#at;
    const digits = this.#match(number);
    if (digits !== undefined) return this.#toNumber(digits, start);
    const word = this.#match(bareName);
    if (word !== undefined && words.has(word)) return words.get(word);
    this.#at = start;
    if (word !== undefined) throw this.mistake(`"${word}" is not a value; write text in quotes: "${word}"`);
    throw this.mistake(
      next === "" ? "a value is missing at the end" : `a value is missing before ${JSON.stringify(next)}`,
    );
  }

  #toNumber(digits: string, start: number): number {
    const inexact = inexactNumber(digits);
    if (inexact === undefined && !/[\p{L}\p{N}_.]/u.test(this.#text.charAt(this.#at))) return Number(digits);
    this.#at = start;
    if (inexact !== undefined) throw this.mistake(`JavaScript cannot hold the number ${inexact} exactly`);
    throw this.mistake("this is not a number; write text in quotes");
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    while (!this.take("]")) {
      items.push(this.value(depth + 1));
      if (this.take(",")) continue;
      if (this.peek() !== "]") throw this.mistake('"," or "]" is missing');
    }
    return items;
  }

  #object(depth: number): object {
    const members = new Map<string, unknown>();
    while (!this.take("}")) {
      const key = this.name();
      if (key === undefined) throw this.mistake('a key or "}" is missing');
      if (members.has(key)) throw this.mistake(`"${key}" is given twice`);
      if (!this.take(":")) throw this.mistake(`":" is missing after "${key}"`);
      members.set(key, this.value(depth + 1));
      if (this.take(",")) continue;
      if (this.peek() !== "}") throw this.mistake('"," or "}" is missing');
    }
    // `fromEntries` is safe for the key `__proto__`; an assignment would set the prototype.
    return Object.fromEntries(members);
  }

  /** Reads a bare or quoted name. If there is none, returns undefined and does not move the cursor. */
  name(): string | undefined {
    const next = this.peek();
    return next === '"' || next === "'" ? this.#quoted() : this.#match(bareName);
  }

  #quoted(): string {
    const start = this.#at;
    const quote = this.#text.charAt(this.#at);
    const parts: string[] = [];
    this.#at += 1;
    for (;;) {
      const next = this.#text.charAt(this.#at);
      const plain = this.#match(plainText);
      if (plain !== undefined) parts.push(plain);
      else if (next === "") {
        this.#at = start;
        throw this.mistake(`this text has no closing ${quote}`);
      } else {
        this.#at += 1;
        if (next === quote) return parts.join("");
        parts.push(next === "\\" ? this.#escaped() : next);
      }
    }
  }

  #escaped(): string {
    const code = this.#match(codePoint);
    if (code !== undefined) {
      const point = Number.parseInt(code.replaceAll(/[ux{}]/g, ""), 16);
      if (point <= 0x10_ffff) return String.fromCodePoint(point);
      this.#at -= code.length;
      throw this.mistake(`${code} is not a Unicode character`);
    }
    const next = this.#text.charAt(this.#at);
    if (next === "u" || next === "x") throw this.mistake(`"\\${next}" needs a hexadecimal character code`);
    this.#at += next.length;
    return escapes.get(next) ?? next;
  }
}
