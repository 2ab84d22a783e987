/** Matches servers' patterns in linear time: seven characters are enough to keep V8's own engine busy for ever. */

import type { RegExpEngine, RegExpLike } from "ajv/dist/types/index.js";
import { RE2JS } from "re2js";

/** The patterns of one schema. */
export interface LinearPatterns {
  readonly engine: RegExpEngine;
  /** Why a pattern cannot be used (look-around, back-references, repeat counts above 1000); undefined if it can. */
  readonly refusal: (pattern: string) => string | undefined;
}

/** Creates the pattern engine of one schema, which compiles each pattern once. */
export function createLinearPatterns(): LinearPatterns {
  const compiled = new Map<string, RegExpLike | Error>();

  function compile(pattern: string): RegExpLike | Error {
    const known = compiled.get(pattern) ?? toLinear(pattern);
    compiled.set(pattern, known);
    return known;
  }

  function matcher(pattern: string): RegExpLike {
    const result = compile(pattern);
    if (result instanceof Error) throw result;
    return result;
  }

  return {
    // Ajv requires `code` for validators that are written to a file, which never happens here.
    engine: Object.assign(matcher, { code: "linear" }),
    refusal(pattern) {
      const result = compile(pattern);
      return result instanceof Error ? result.message.replace(/^error parsing regexp: /, "") : undefined;
    },
  };
}

function toLinear(pattern: string): RegExpLike | Error {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(pattern));
    // Ajv caches patterns by their text: without a text of its own, each would be the first one.
    return Object.assign({ test: (text: string) => linear.test(text) }, { toString: () => `/${pattern}/` });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
