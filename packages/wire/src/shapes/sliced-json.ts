/**
 * Parses long JSON texts in slices, so that a server's large message does not block the event loop. `JSON.parse` alone
 * needs more than a second for 16 MB of small values.
 */

import { parseJson } from "./json.ts";
import { itemsMemory, keyMemory, mostMemory, tooMuchMemory, valueBytes } from "./json-memory.ts";

/** A text with fewer characters is never parsed in slices, because `JSON.parse` reads it in a few milliseconds. */
export const longJson: number = 128 * 1024;

/** After this much work, other code may run. One unit is about one nanosecond. */
const sliceWork = 500_000;
/** The work for reading one value, in units. */
const valueWork = 150;
/** Longer strings (in characters) are decoded in pieces of this length. */
const pieceLength = 512 * 1024;
/** The first characters of a string are checked one by one. After this many, `indexOf` finds the end. */
const searchedFrom = 32;
/** V8 copies a slice that is shorter than this. A longer slice would keep the whole text in memory. */
const copiedLength = 13;

export interface SliceOptions {
  /** Maximum estimated memory of the values, in bytes. Default: 64 MB. */
  readonly maxMemory?: number;
  /** Waits for the next turn of the event loop. A test can replace it to count the slices. */
  readonly nextTurn?: () => Promise<void>;
}

/**
 * Parses the text. Resolves with undefined if it is not JSON.
 *
 * @throws WireError `too_large` if the values take more than `maxMemory`.
 */
export async function parseInSlices(text: string, options: SliceOptions = {}): Promise<unknown> {
  const { maxMemory = mostMemory, nextTurn = immediateTurn } = options;
  const steps = parseSteps(text, maxMemory);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await nextTurn();
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Resolves in the next turn of the event loop. */
export function immediateTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

interface OpenObject {
  readonly value: Record<string, unknown>;
  key: string;
}

/** A list that is not complete: the index in `waiting` where its items begin. */
type OpenList = number;

const quote = 0x22;
const comma = 0x2c;
const zero = 0x30;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** No recursion, because deep nesting would overflow the stack. Yields after each slice. */
function* parseSteps(text: string, maxMemory: number): Generator<void, unknown, void> {
  const open: (OpenObject | OpenList)[] = [];
  /** The items of all lists that are not complete yet. */
  const waiting: unknown[] = [];
  const keys = new Set<string>();
  const read = createItemReader(text);
  let at = 0;
  let work = 0;
  let used = 0;
  let isKeyNext = false;
  /** Where the next items of the current list begin: after its last comma, or after its `[`. */
  let itemsFrom = -1;

  for (;;) {
    while (at === itemsFrom) {
      const run = read(at, afterSpaces(text, at));
      if (run === undefined) break;
      for (const item of run.items) waiting.push(item);
      used += itemsMemory(run.items, keys);
      if (used > maxMemory) throw tooMuchMemory(maxMemory);
      at = run.end;
      itemsFrom = at;
      yield;
    }
    for (at = afterSpaces(text, at); isSpace(text.charCodeAt(at)); at = afterSpaces(text, at)) yield;
    const begin = at;
    const first = text.charCodeAt(at);
    let value: unknown;
    if (first === quote) {
      const end = stringEnd(text, at);
      if (end === -1) [value, at] = yield* longString(text, at);
      else {
        value = end - at < copiedLength ? shortString(text, at, end) : (JSON.parse(text.slice(at, end)) as string);
        at = end;
      }
      if (!isKeyNext) used += valueBytes.string + (at - begin);
    } else if (isKeyNext) throw new SyntaxError("a key is not a string");
    else if (first === openList || first === openObject) {
      at += 1;
      const inside = at;
      for (at = afterSpaces(text, at); isSpace(text.charCodeAt(at)); at = afterSpaces(text, at)) yield;
      used += first === openList ? valueBytes.list : valueBytes.object;
      const isEmpty = text.charCodeAt(at) === (first === openList ? closeList : closeObject);
      if (!isEmpty) {
        isKeyNext = first === openObject;
        open.push(isKeyNext ? { value: {}, key: "" } : waiting.length);
        if (first === openList) {
          at = inside;
          itemsFrom = inside;
        }
        continue;
      }
      at += 1;
      value = first === openList ? [] : {};
    } else {
      at = scalarEnd(text, at);
      value = scalar(text, begin, at);
      used += valueBytes.number;
    }
    work += valueWork + (at - begin);

    // Adds the value to the list or object around it. If that is now complete, adds it to the next one around it, and
    // so on.
    for (;;) {
      if (used > maxMemory) throw tooMuchMemory(maxMemory);
      if (work > sliceWork) {
        work = 0;
        yield;
      }
      for (at = afterSpaces(text, at); isSpace(text.charCodeAt(at)); at = afterSpaces(text, at)) yield;
      const next = text.charCodeAt(at);
      at += 1;
      const around = open.at(-1);
      if (around === undefined) {
        if (at <= text.length) throw new SyntaxError("the text goes on after its value");
        return value;
      }
      if (isKeyNext) {
        if (next !== colon) throw new SyntaxError("a key has no value");
        const key = value as string;
        used += keyMemory(key, keys);
        (around as OpenObject).key = key;
        isKeyNext = false;
        break;
      }
      if (typeof around === "number") {
        waiting.push(value);
        used += valueBytes.item;
        if (next === comma) {
          itemsFrom = at;
          break;
        }
        if (next !== closeList) throw new SyntaxError("a list is not closed");
        value = waiting.splice(around);
      } else {
        setMember(around.value, around.key, value);
        used += valueBytes.member;
        isKeyNext = next === comma;
        if (isKeyNext) break;
        if (next !== closeObject) throw new SyntaxError("an object is not closed");
        value = around.value;
      }
      open.pop();
      work += valueWork;
    }
  }
}

/** An assignment to the key `__proto__` would change the prototype. */
function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

function isSpace(character: number): boolean {
  return character === 0x20 || character === 0x0a || character === 0x0d || character === 0x09;
}

/** Skips white space, but at most `pieceLength` characters, so that other code can run. */
function afterSpaces(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at)) && at - from < pieceLength) at += 1;
  return at;
}

/** Returns the position after a number, `true`, `false` or `null`. */
function scalarEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length && at - from < pieceLength; at += 1) {
    const next = text.charCodeAt(at);
    if (next === comma || next === closeList || next === closeObject || isSpace(next)) break;
  }
  return at;
}

/** Numbers with one or two digits are the most frequent, so they are read without `JSON.parse`. */
function scalar(text: string, from: number, end: number): unknown {
  const first = text.charCodeAt(from) - zero;
  if (first >= 0 && first <= 9) {
    if (end - from === 1) return first;
    const second = text.charCodeAt(from + 1) - zero;
    if (end - from === 2 && first > 0 && second >= 0 && second <= 9) return first * 10 + second;
  }
  return JSON.parse(text.slice(from, end)) as unknown;
}

/**
 * Returns the position after the string that begins at `from`. Returns -1 if the string is longer than `pieceLength`.
 */
function stringEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + pieceLength);
  for (let at = from + 1; at < last; at += 1) {
    if (at === from + searchedFrom) at = plainEnd(text, at);
    const next = text.charCodeAt(at);
    if (next === quote) return at < last ? at + 1 : -1;
    if (next === backslash) at += 1;
  }
  if (last === text.length) throw new SyntaxError("a string is not closed");
  return -1;
}

/** Returns the position of the next `"`. Returns `from` if there is none, or if a backslash comes first. */
function plainEnd(text: string, from: number): number {
  const end = text.indexOf('"', from);
  return end === -1 || text.slice(from, end).includes("\\") ? from : end;
}

/** A string without escapes needs no `JSON.parse`. */
function shortString(text: string, from: number, end: number): string {
  for (let at = from + 1; at < end - 1; at += 1) {
    const next = text.charCodeAt(at);
    if (next === backslash || next < 0x20) return JSON.parse(text.slice(from, end)) as string;
  }
  return text.slice(from + 1, end - 1);
}

/** Decodes a long string in pieces. Returns the string and the position after it. */
function* longString(text: string, from: number): Generator<void, [string, number], void> {
  let whole = "";
  let end = from + 1;
  let nextEscape = -1;
  for (let begin = end; ; begin = end) {
    const last = Math.min(text.length, begin + pieceLength);
    if (nextEscape < begin) nextEscape = positionOf("\\", text, begin);
    if (nextEscape >= last) end = Math.min(last, positionOf('"', text, begin));
    while (end < last && text.charCodeAt(end) !== quote)
      end += text.charCodeAt(end) === backslash ? escapeLength(text, end) : 1;
    whole += JSON.parse(`"${text.slice(begin, end)}"`) as string;
    if (text.charCodeAt(end) === quote) return [whole, end + 1];
    if (end >= text.length) throw new SyntaxError("a string is not closed");
    yield;
  }
}

function positionOf(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

function escapeLength(text: string, at: number): number {
  return text[at + 1] === "u" ? 6 : 2;
}

/** `JSON.parse` gets at most this many characters at once, which takes a few milliseconds. */
const mostCharacters = 128 * 1024;
/** If the next items together have fewer characters, they are read one by one. */
const fewestCharacters = 4 * 1024;
/** An item is recognised by this many characters at its beginning. */
const beginLength = 8;
/** After this many wrong guesses, the items are read one by one. A hostile server could make every guess wrong. */
const mostFailures = 8;

/** `end` is the position after the comma that follows the items. */
interface ItemRun {
  readonly items: readonly unknown[];
  readonly end: number;
}

/**
 * Returns a function that reads the next items of a list in one JSON text. `from` is the position after a comma or `[`.
 * `begin` is where the first item begins, after white space. It returns undefined if the items must be read one by one.
 */
export function createItemReader(text: string): (from: number, begin: number) => ItemRun | undefined {
  let failures = 0;

  /**
   * Guesses where the last item within `mostCharacters` ends. If the first item begins with `{"name":`, the guess is
   * the last `,{"name":`. If the guess is wrong, `JSON.parse` fails.
   */
  function guess(from: number, begin: number): ItemRun | undefined {
    const separator = `,${text.slice(from, begin + beginLength)}`;
    const length = text.slice(from, from + mostCharacters).lastIndexOf(separator);
    if (length < fewestCharacters) return undefined;
    const items = parseJson(`[${text.slice(from, from + length)}]`) as readonly unknown[] | undefined;
    return items && { items, end: from + length + 1 };
  }

  return (from, begin) => {
    if (text.charCodeAt(begin) !== openObject || failures === mostFailures || text.length - from < fewestCharacters)
      return undefined;
    const run = guess(from, begin);
    if (run === undefined) failures += 1;
    return run;
  };
}

/** `JSON.parse` may take this many nanoseconds. A text that needs longer is parsed in slices. */
const wholeTime = 40_000_000;
/** How long `JSON.parse` takes for one character, in nanoseconds. */
const characterTime = 2;
/** How long `JSON.parse` takes for one value, in nanoseconds. */
const valueTime = 100;
const samples = 64;
const sampleLength = 256;

/**
 * Parses the text. Resolves with undefined if it is not JSON.
 *
 * @throws WireError `too_large` if the text is parsed in slices and its values take more than `maxMemory`.
 */
export async function parseLongJson(text: string, options?: SliceOptions): Promise<unknown> {
  return parseTime(text) > wholeTime ? parseInSlices(text, options) : parseJson(text);
}

/**
 * Estimates how long `JSON.parse` takes, in nanoseconds, by counting the values in samples of the text. Random
 * positions, because a server could otherwise put most values outside the samples.
 */
function parseTime(text: string): number {
  const length = Math.min(sampleLength, text.length);
  let values = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const from = Math.floor(Math.random() * (text.length - length));
    for (let at = from; at < from + length; at += 1) if (precedesValue(text.charCodeAt(at))) values += 1;
  }
  return text.length * (characterTime + (valueTime * values) / (samples * length));
}

/** Each comma, colon and `[` comes before a value. */
function precedesValue(character: number): boolean {
  return character === 0x2c || character === 0x3a || character === 0x5b;
}
