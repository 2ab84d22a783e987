import type { ToolResult } from "@fairlead/wire";

/** The result of a tool call. An error that the tool itself reports is a result too. */
export interface CallResult extends Omit<ToolResult, "notes"> {
  /** Parts that could not be checked or had to be guessed, and how the result violates the tool's schema. */
  readonly warnings?: readonly string[];
}
