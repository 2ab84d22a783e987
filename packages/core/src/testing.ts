/**
 * Helpers for tests of programs that use the library. They need no test framework: a failed check throws an `Error`.
 */

export type { CheckedResult } from "./checks/compare-result.ts";
export { type ExpectedResult, type MatcherResult, maskResult, mcpMatchers } from "./checks/matchers.ts";
export { MCPToolTestHelper, type MockCallableTool } from "./gemini/test-helper.ts";
