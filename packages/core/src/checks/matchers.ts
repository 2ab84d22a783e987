/** Matchers for Vitest and Jest on the engine of `fairlead test`. They need no test framework themselves. */

import type { JsonObject } from "@fairlead/wire";
import { describeIssues } from "../execute/check-values.ts";
import type { ResultExpectation } from "./check-file.ts";
import { type CheckedResult, compareResult, dataOf } from "./compare-result.ts";
import { toSnapshot } from "./masks.ts";
import { compilePattern } from "./patterns.ts";

/** What a matcher returns to the test framework. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** What a result must be like: as `expect` in a file of checks, with `matches` as text or as a regular expression. */
export interface ExpectedResult {
  /** The joined text of the result. */
  readonly text?: string;
  readonly contains?: string | readonly string[];
  readonly matches?: string | RegExp;
  /** A part of the structured content: objects may have more members, lists not. */
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
  /** Compares text, structured content (as a subset) and `isError`. */
  toMatchToolResult(received: CheckedResult, expected: ExpectedResult): MatcherResult {
    return toMatcherResult(compareResult(received, toExpectation(expected)), "the result matches the expectation");
  },

  /** Validates the structured content, or the text read as JSON, against a JSON Schema. */
  async toMatchToolSchema(received: CheckedResult, schema: JsonObject): Promise<MatcherResult> {
    const { createValidator } = await import("../execute/validation/validator.ts");
    const validator = createValidator();
    try {
      const value = dataOf(received);
      const { issues, warnings } = await validator.validate(schema, value);
      const whole = "the structured content";
      const problems = issues.length === 0 ? warnings : [describeIssues(issues, { schema, value, whole })];
      return toMatcherResult(problems, "the structured content matches the schema");
    } finally {
      await validator.close();
    }
  },
} as const;

/**
 * A result with ids and times masked, for the snapshots of a test framework. `masks` are further patterns, with the flag
 * `g`.
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

/** A regular expression of the test itself is used as it is, with its flags. @throws Error if a text is not a pattern */
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
