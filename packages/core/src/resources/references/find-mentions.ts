/** Finds `@` mentions in a text that the user typed. Reads the text once. Pure. */

/** A mention, or the text between mentions. */
export type Mention =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "mention";
      /** The text as written, including the `@`. */
      readonly text: string;
      /** The target without `@`, quotes and escapes. */
      readonly target: string;
      readonly isQuoted: boolean;
    };

/** Maximum characters of a target. If the text after an `@` is longer, it is not a mention. */
const longestTarget = 8192;
const quotes = "\"'";
/**
 * Characters that may stand before the `@` of a mention. If a letter stands before the `@`, the text is an e-mail
 * address.
 */
const opening = /^[\s([<,;“‘（）［］「」『』【】《》〈〉、，；：。！？…]$/u;
/**
 * Chinese, Japanese and Korean characters. There are often no spaces between words, so such a character may stand
 * directly before or after a mention.
 */
const cjk = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]$/u;
const hiragana = /^\p{Script=Hiragana}$/u;
/** Markdown's signs for emphasis, which may stand around a mention. */
const emphasis = /^[*_~]$/;
/**
 * Matches a character, or the end of the text, after an `@` that does not begin a mention, as in `@(` and
 * `@{upstream}`.
 */
const noBeginning = /^[\s"'`<>|,;:!?()[\]{}@=&#*+^]?$/u;
const ending = /^[\s"'`<>|”（）［］「」『』【】《》〈〉。、，；：！？]$/u;
const escapable = /^[ !-/:-@[-`{-~]$/;
const trailing = ".,;:!?…";
const openers: ReadonlyMap<string, string> = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
]);

/** Splits a text into mentions and the text between them. */
export function findMentions(text: string): readonly Mention[] {
  const found: Mention[] = [];
  const codeEnds = endsOfCode(text);
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    const reading = character === "@" && mayBeginMention(text, at) ? readMention(text, at) : undefined;
    if (reading?.mention !== undefined) {
      if (from < at) found.push({ kind: "text", text: text.slice(from, at) });
      found.push(reading.mention);
      from = at + reading.mention.text.length;
    }
    at = reading?.end ?? codeEnds.get(at) ?? at + 1;
  }
  if (from < text.length) found.push({ kind: "text", text: text.slice(from) });
  return found;
}

/** Whether an `@` at this position can begin a mention. An `@` inside a word, as in an e-mail address, cannot. */
export function mayBeginMention(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  if (isFree(text, at)) return true;
  // In `"@a"`, the `@` follows an opening quote and begins a mention. In `"Ann Lee"@example.com`, it does not.
  if (quotes.includes(before) && before !== "") return isFree(text, at - 1);
  if (!emphasis.test(before)) return false;
  // In `**@a**` and `**Note:**@a` the `@` begins a mention, but `first_@example.com` is an e-mail address.
  const start = at - lengthOfRun(text, at - 1, -1);
  return isFree(text, start) || (before === "*" && at - start > 1 && isOpen(text.slice(start, at), text, start));
}

/** True if no word ends directly before this position. */
function isFree(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  return at <= 0 || opening.test(before) || cjk.test(before);
}

/** Maximum number of signs in a row that count as emphasis. */
const longestRun = 3;

/** How many times the character at `at` is repeated in a row, forwards or backwards. */
function lengthOfRun(text: string, at: number, step: 1 | -1): number {
  let length = 1;
  while (length < longestRun && text.charAt(at + step * length) === text.charAt(at)) length += 1;
  return length;
}

/** The result of trying to read a mention. With or without a mention, the search continues at `end`. */
interface Reading {
  readonly end: number;
  readonly mention?: Mention;
}

function readMention(text: string, at: number): Reading {
  const first = text.charAt(at + 1);
  if (first !== "" && quotes.includes(first)) return readQuoted(text, at, first);
  if (noBeginning.test(first)) return { end: at + 1 };
  return readPlain(text, at);
}

function readQuoted(text: string, at: number, quote: string): Reading {
  let target = "";
  for (let next = at + 2; next < text.length && target.length <= longestTarget; next += 1) {
    const character = text.charAt(next);
    const escaped = text.charAt(next + 1);
    if (character === "\n") break;
    if (character === quote) {
      const end = next + 1;
      return target.trim() === ""
        ? { end }
        : { end, mention: { kind: "mention", text: text.slice(at, end), target, isQuoted: true } };
    }
    if (character === "\\" && (escaped === quote || escaped === "\\")) next += 1;
    target += text.charAt(next);
  }
  // The quote is not closed, so it counts as an ordinary character.
  return { end: at + 2 };
}

interface Unit {
  readonly character: string;
  readonly isEscaped: boolean;
  readonly end: number;
}

function readPlain(text: string, at: number): Reading {
  const units: Unit[] = [];
  let next = at + 1;
  while (next < text.length && !isEnd(text, next)) {
    const isEscaped = text.charAt(next) === "\\" && escapable.test(text.charAt(next + 1));
    const end = next + (isEscaped ? 2 : 1);
    units.push({ character: text.charAt(end - 1), isEscaped, end });
    next = end;
  }
  const quoteBefore = quotes.includes(text.charAt(at - 1)) ? text.charAt(at - 1) : "";
  const isOpenQuote = quoteBefore !== "" && text.charAt(next) !== quoteBefore;
  const kept = withoutPunctuation(withoutCjkWords(withoutEmphasis(units, text, at)));
  const last = kept.at(-1);
  if (last === undefined || kept.length > longestTarget || isOpenQuote) return { end: next };
  const target = kept.map(({ character }) => character).join("");
  return { end: next, mention: { kind: "mention", text: text.slice(at, last.end), target, isQuoted: false } };
}

function isEnd(text: string, at: number): boolean {
  const character = text.charAt(at);
  return ending.test(character) || ((character === "," || character === ";") && text.charAt(at + 1) === "@");
}

/** Fairlead searches this many characters before a mention, on the same line, for the start of emphasis. */
const longestEmphasis = 200;

/**
 * If emphasis began before a mention, cuts the mention where the emphasis ends, as in `**see @a://b**` and `_@a://b_`.
 */
function withoutEmphasis(units: readonly Unit[], text: string, at: number): readonly Unit[] {
  const cutAt = units.findIndex(({ character, isEscaped, end }, index) => {
    if (isEscaped || !emphasis.test(character) || units[index - 1]?.character === character) return false;
    const sign = character.repeat(lengthOfRun(text, end - 1, 1));
    const next = text.charAt(end - 1 + sign.length);
    return !/^[\p{L}\p{N}/]$/u.test(next) || cjk.test(next) ? isOpen(sign, text, at) : false;
  });
  return cutAt === -1 ? units : units.slice(0, cutAt);
}

/**
 * Whether emphasis with this sign is open at the position. It is open if the sign occurs an odd number of times before
 * the position, on the same line.
 */
function isOpen(sign: string, text: string, at: number): boolean {
  const line = text.slice(Math.max(0, at - longestEmphasis), at);
  const start = line.slice(line.lastIndexOf("\n") + 1);
  // A sign between spaces, such as a bullet, is not emphasis.
  const runs = start.match(/(?<=[^\s*_~])(?:\*+|_+|~+)|(?:\*+|_+|~+)(?=[^\s*_~]|$)/g) ?? [];
  return runs.filter((run) => run === sign).length % 2 === 1;
}

/**
 * Cuts off words that follow a mention without a space, as in Japanese: `@demo://aboutを見て`. Cuts only after an ASCII
 * letter, digit or bracket, because a name may itself be Japanese.
 */
function withoutCjkWords(units: readonly Unit[]): readonly Unit[] {
  const lastAscii = units.findLastIndex(({ character }) => /^[a-z0-9]$/i.test(character));
  const cutAt = units.findIndex(({ character, isEscaped }, index) => {
    if (isEscaped || !cjk.test(character) || !/^[a-z0-9)\]}]$/i.test(units[index - 1]?.character ?? "")) return false;
    return index > lastAscii || hiragana.test(character);
  });
  return cutAt === -1 ? units : units.slice(0, cutAt);
}

/** Removes punctuation at the end. Also removes a closing bracket if its opening bracket is before the mention. */
function withoutPunctuation(units: readonly Unit[]): readonly Unit[] {
  const count = new Map<string, number>();
  for (const { character } of units) count.set(character, (count.get(character) ?? 0) + 1);
  let length = units.length;
  for (; length > 0; length -= 1) {
    const { character = "", isEscaped = false } = units[length - 1] ?? {};
    const opener = openers.get(character);
    const isUnbalanced = opener !== undefined && (count.get(opener) ?? 0) < (count.get(character) ?? 0);
    if (isEscaped || !(trailing.includes(character) || isUnbalanced)) break;
    count.set(character, (count.get(character) ?? 0) - 1);
  }
  return units.slice(0, length);
}

/** The start and end of each code span in backticks. Inside code, an `@` is not a mention. */
function endsOfCode(text: string): ReadonlyMap<number, number> {
  const runs = Array.from(text.matchAll(/`+/g), ({ index, 0: { length } }) => ({ index, length }));
  const byLength = new Map<number, number[]>();
  for (const { index, length } of [...runs].reverse()) {
    const same = byLength.get(length);
    if (same) same.push(index);
    else byLength.set(length, [index]);
  }
  return new Map(
    runs.flatMap(({ index, length }) => {
      /* The positions of backticks that may close this code span. The nearest position is the last item. */
      const closings = byLength.get(length) ?? [];
      while ((closings.at(-1) ?? Number.POSITIVE_INFINITY) <= index) closings.pop();
      const closing = closings.at(-1);
      return closing === undefined ? [] : [[index, closing + length] as const];
    }),
  );
}
