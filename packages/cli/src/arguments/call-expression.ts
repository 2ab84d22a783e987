/**
 * Parses a call expression, `server.tool(a: 1, b: "x")`, and the literals in it. Never evaluates code. Pure functions.
 */

import { HostError } from "@fairlead/core/errors";
import { inexactNumber } from "./coerce.ts";

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

/** Reads a name followed by ":" or "=". Otherwise moves the cursor back, because the text is a positional value. */
function readName(reader: LiteralReader): string | undefined {
  const goBack = reader.savePosition();
  const name = reader.name();
  if (name !== undefined && reader.take(":=")) return name;
  goBack();
  return undefined;
}

/** A cursor over the text. Every error message names the cursor's position. */
interface LiteralReader {
  value(): unknown;
  /** Reads a bare or quoted name. If there is none, returns undefined and does not move the cursor. */
  name(): string | undefined;
  /** Skips whitespace. If the next character is one of `characters`, reads this character and returns true. */
  take(characters: string): boolean;
  peek(): string;
  /** Returns a function that moves the cursor back to the current position. */
  savePosition(): () => void;
  isAtEnd(): boolean;
  mistake(what: string): HostError;
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

function createLiteralReader(text: string): LiteralReader {
  let at = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  }

  function peek(): string {
    match(blank);
    return text.charAt(at);
  }

  function take(characters: string): boolean {
    const next = peek();
    if (next === "" || !characters.includes(next)) return false;
    at += 1;
    return true;
  }

  function mistake(what: string): HostError {
    return new HostError("arguments_invalid", `character ${at + 1}: ${what}`);
  }

  function value(depth = 0): unknown {
    const next = peek();
    if (depth > deepest) throw mistake(`nested more than ${deepest} levels deep`);
    if (next === '"' || next === "'") return quoted();
    if (take("[")) return list(depth);
    if (take("{")) return object(depth);
    const start = at;
    const digits = match(number);
    if (digits !== undefined) return toNumber(digits, start);
    const word = match(bareName);
    if (word !== undefined && words.has(word)) return words.get(word);
    at = start;
    if (word !== undefined) throw mistake(`"${word}" is not a value; write text in quotes: "${word}"`);
    throw mistake(next === "" ? "a value is missing at the end" : `a value is missing before ${JSON.stringify(next)}`);
  }

  function toNumber(digits: string, start: number): number {
    const inexact = inexactNumber(digits);
    if (inexact === undefined && !/[\p{L}\p{N}_.]/u.test(text.charAt(at))) return Number(digits);
    at = start;
    if (inexact !== undefined) throw mistake(`JavaScript cannot hold the number ${inexact} exactly`);
    throw mistake("this is not a number; write text in quotes");
  }

  function list(depth: number): unknown[] {
    const items: unknown[] = [];
    while (!take("]")) {
      items.push(value(depth + 1));
      if (take(",")) continue;
      if (peek() !== "]") throw mistake('"," or "]" is missing');
    }
    return items;
  }

  function object(depth: number): object {
    const members = new Map<string, unknown>();
    while (!take("}")) {
      const key = name();
      if (key === undefined) throw mistake('a key or "}" is missing');
      if (members.has(key)) throw mistake(`"${key}" is given twice`);
      if (!take(":")) throw mistake(`":" is missing after "${key}"`);
      members.set(key, value(depth + 1));
      if (take(",")) continue;
      if (peek() !== "}") throw mistake('"," or "}" is missing');
    }
    // `fromEntries` is safe for the key `__proto__`; an assignment would set the prototype.
    return Object.fromEntries(members);
  }

  function name(): string | undefined {
    const next = peek();
    return next === '"' || next === "'" ? quoted() : match(bareName);
  }

  function quoted(): string {
    const start = at;
    const quote = text.charAt(at);
    const parts: string[] = [];
    at += 1;
    for (;;) {
      const next = text.charAt(at);
      const plain = match(plainText);
      if (plain !== undefined) parts.push(plain);
      else if (next === "") {
        at = start;
        throw mistake(`this text has no closing ${quote}`);
      } else {
        at += 1;
        if (next === quote) return parts.join("");
        parts.push(next === "\\" ? escaped() : next);
      }
    }
  }

  function escaped(): string {
    const code = match(codePoint);
    if (code !== undefined) {
      const point = Number.parseInt(code.replaceAll(/[ux{}]/g, ""), 16);
      if (point <= 0x10_ffff) return String.fromCodePoint(point);
      at -= code.length;
      throw mistake(`${code} is not a Unicode character`);
    }
    const next = text.charAt(at);
    if (next === "u" || next === "x") throw mistake(`"\\${next}" needs a hexadecimal character code`);
    at += next.length;
    return escapes.get(next) ?? next;
  }

  return {
    value: () => value(),
    name,
    take,
    peek,
    savePosition() {
      const here = at;
      return () => {
        at = here;
      };
    },
    isAtEnd: () => peek() === "",
    mistake,
  };
}
