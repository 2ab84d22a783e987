/** A server or tool name in a rule: exact, or with the wildcards `*` and `?`. */
export interface NamePattern {
  readonly text: string;
  readonly matches: (name: string) => boolean;
}

/** Matches only this name. `*` and `?` have no special meaning. */
export function exactName(name: string): NamePattern {
  return { text: escapeName(name), matches: (other) => other === name };
}

/**
 * Reads a pattern: `*` matches any characters, `?` matches one character, and `\` makes the next character literal. `[`
 * has no special meaning.
 */
export function namePattern(text: string): NamePattern {
  const tokens = tokensOf(text);
  if (tokens.every((token) => typeof token === "string")) {
    const name = tokens.join("");
    return { text, matches: (other) => other === name };
  }
  return { text, matches: (name) => matchesAll(tokens, Array.from(name)) };
}

/** Returns the pattern that matches exactly this name. */
export function escapeName(name: string): string {
  return name.replace(/[\\*?]/g, "\\$&");
}

/**
 * The pattern for all resources. It matches every URI, but no tool name without a colon. Gemini CLI reads the same
 * files, and would apply a plain `*` to its tools.
 */
export const everyResource = "*:*";

const anyRun = Symbol("*");
const anyOne = Symbol("?");
type Token = string | typeof anyRun | typeof anyOne;

function tokensOf(text: string): readonly Token[] {
  return (text.match(/\\[\\*?]|./gsu) ?? []).map((part) => {
    if (part === "*") return anyRun;
    if (part === "?") return anyOne;
    return part.length > 1 && part.startsWith("\\") ? part.slice(1) : part;
  });
}

/**
 * Whether the name matches. Backtracks only to the last star. A regular expression with many stars could take
 * exponential time.
 */
function matchesAll(tokens: readonly Token[], letters: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let letter = 0; letter < letters.length; ) {
    const token = tokens[at];
    if (token === anyRun) {
      star = at;
      resume = letter;
      at += 1;
    } else if (token === anyOne || (token !== undefined && token === letters[letter])) {
      at += 1;
      letter += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      letter = resume;
    } else {
      return false;
    }
  }
  return tokens.slice(at).every((token) => token === anyRun);
}
