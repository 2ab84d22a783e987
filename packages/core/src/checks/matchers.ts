/** Matchers for Vitest and Jest, based on the checks of `fairlead test`. They import no test framework. */

import type { JsonObject } from "@fairlead/wire";
import type { ResultExpectation } from "./check-file.ts";
import { type CheckedResult, compareResult, schemaProblems } from "./compare-result.ts";
import { toSnapshot } from "./masks.ts";
import { compilePattern } from "./patterns.ts";

/** The object that a matcher returns to the test framework. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/**
 * The expected result, with the same members as `expect` in a file of checks. `matches` may be a text or a regular
 * expression.
 */
export interface ExpectedResult {
  /**
   * The exact text of the result: its text blocks, joined by line breaks. `contains` and `matches` apply to the same
   * text.
   */
  readonly text?: string;
  readonly contains?: string | readonly string[];
  readonly matches?: string | RegExp;
  /**
   * The expected part of the structured content. Objects may have more members than expected. Lists must have exactly
   * as many items as expected.
   */
  readonly structured?: unknown;
  readonly isError?: boolean;
}

/**
 * Matchers for the results of `host.call`.
 *
 * @example
 * ```ts
 * expect.extend(mcpMatchers);
 * expect(await host.call("files", "read", { path: "a.txt" })).toMatchToolResult({ contains: "alpha" });
 * ```
 */
export const mcpMatchers = {
  /** Compares the text, `isError` and the structured content of a result with `expected`. */
  toMatchToolResult(received: CheckedResult, expected: ExpectedResult): MatcherResult {
    return toMatcherResult(compareResult(received, toExpectation(expected)), "the result matches the expectation");
  },

  /** Validates the structured content, or the text parsed as JSON, against a JSON Schema. */
  async toMatchToolSchema(received: CheckedResult, schema: JsonObject): Promise<MatcherResult> {
    const { createValidator } = await import("../execute/validation/validator.ts");
    const validator = createValidator();
    try {
      const problems = await schemaProblems(schema, received, validator);
      return toMatcherResult(problems, "the structured content matches the schema");
    } finally {
      await validator.close();
    }
  },
} as const;

/**
 * A result with ids and times masked, for the snapshots of a test framework. `masks` are additional patterns, which
 * need the flag `g`.
 *
 * @example
 * ```ts
 * expect(maskResult(await host.call("files", "stat", { path: "a.txt" }))).toMatchSnapshot();
 * ```
 */
export function maskResult(result: CheckedResult, masks: readonly RegExp[] = []): unknown {
  const own = masks.map((pattern) => ({ pattern: toPattern(pattern), shown: "<masked>" }));
  return toSnapshot(result, (text) => text, own);
}

function toExpectation({ contains, matches, ...rest }: ExpectedResult): ResultExpectation {
  return {
    ...rest,
    ...(contains !== undefined && { contains: typeof contains === "string" ? [contains] : contains }),
    ...(matches !== undefined && { matches: toPattern(matches) }),
  };
}

/**
 * Compiles a text to a pattern. A regular expression is used unchanged, with its flags.
 *
 * @throws Error if the text is not a valid pattern
 */
function toPattern(matches: string | RegExp): NonNullable<ResultExpectation["matches"]> {
  if (typeof matches !== "string")
    return {
      text: String(matches),
      isIn: (text) => text.search(matches) >= 0,
      replaceIn: (text, replacement) => text.replace(matches, replacement),
    };
  const pattern = compilePattern(matches);
  if (typeof pattern === "string") throw new Error(`"${matches}" cannot be used as a pattern: ${pattern}`);
  return pattern;
}

function toMatcherResult(problems: readonly string[], otherwise: string): MatcherResult {
  return { pass: problems.length === 0, message: () => (problems.length === 0 ? otherwise : problems.join("\n")) };
}
