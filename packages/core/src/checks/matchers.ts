/** Matchers for Vitest and Jest, with the checks of `fairlead test`. Imports no test framework. */

import type { JsonObject } from "@fairlead/wire";
import type { ResultExpectation } from "./check-file.ts";
import { type CheckedResult, compareResult, schemaProblems } from "./compare-result.ts";
import { compilePattern, toSnapshot } from "./masks.ts";

/** What a matcher returns to the test framework. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** What a result must be: some members of `expect` in a file of checks, but `matches` may also be a `RegExp`. */
export interface ExpectedResult {
  /**
   * The whole text of the result: its text blocks, joined by line breaks. `contains` and `matches` search in this text.
   */
  readonly text?: string;
  readonly contains?: string | readonly string[];
  readonly matches?: string | RegExp;
  /**
   * What the structured content must contain. Its objects may have further members. Its lists must have the same
   * length.
   */
  readonly structured?: unknown;
  readonly isError?: boolean;
}

/**
 * Matchers for the results of `host.call`.
 *
 * @example
 * ```ts fragment
 * expect.extend(mcpMatchers);
 * expect(await host.call("files", "read", { path: "a.txt" })).toMatchToolResult({ contains: "alpha" });
 * ```
 */
export const mcpMatchers = {
  /** Passes if the text, `isError` and the structured content are as expected. */
  toMatchToolResult(received: CheckedResult, expected: ExpectedResult): MatcherResult {
    return toMatcherResult(compareResult(received, toExpectation(expected)), "the result matches the expectation");
  },

  /** Passes if the structured content fits a JSON Schema. Without structured content, parses the text as JSON. */
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
 * Returns a result with its ids and times replaced, for snapshots. `masks` are further patterns, with the flag `g`.
 *
 * @example
 * ```ts fragment
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
    contains: typeof contains === "string" ? [contains] : contains,
    matches: matches === undefined ? undefined : toPattern(matches),
  };
}

/**
 * A `RegExp` is used as it is, with its flags.
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
