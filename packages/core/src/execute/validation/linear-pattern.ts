/** Patterns of servers, matched in linear time: V8's own engine can be kept busy for ever by seven characters. */

import type { RegExpEngine, RegExpLike } from "ajv/dist/types/index.js";
import { RE2JS } from "re2js";

export interface LinearPatterns {
  readonly engine: RegExpEngine;
  /** Why a pattern cannot be used (look-around, back-references, repeat counts above 1000), if so. */
  readonly refusal: (pattern: string) => string | undefined;
}

/** For one schema: each of its patterns is compiled once. */
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
    // `code` is for validators that are written to a file; ours never are.
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
    // Ajv keeps patterns under their text: without one, all of them would be the first.
    return Object.assign({ test: (text: string) => linear.test(text) }, { toString: () => `/${pattern}/` });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
