import type { ToolResult } from "@fairlead/wire";

/** The result of a tool call. An error that the tool itself reports is a result too. */
export interface CallResult extends Omit<ToolResult, "notes"> {
  /**
   * Warnings: parts of the result that could not be checked or had to be guessed, and ways in which the result violates
   * the tool's schema.
   */
  readonly warnings?: readonly string[];
}
