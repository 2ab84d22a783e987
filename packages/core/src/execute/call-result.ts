/** The result of a tool call as the host returns it. */

import type { ToolResult } from "@fairlead/wire";

/** The result of a tool call. An error that the tool itself reports is a result too. */
export interface CallResult extends Omit<ToolResult, "notes"> {
  /** Warnings, for example that an argument was not checked, or that the result violates the tool's output schema. */
  readonly warnings?: readonly string[];
}

/** Creates the result of a call. Avoids object spreads for a plain result, because they are slow. */
export function toCallResult(
  answer: ToolResult,
  unchecked: readonly string[],
  unmatched: readonly string[],
): CallResult {
  const { content, isError, notes } = answer;
  const isSilent = unchecked.length + notes.length + unmatched.length === 0;
  if (isSilent && answer.structuredContent === undefined && answer.meta === undefined) return { content, isError };
  const { notes: _, ...result } = answer;
  return isSilent ? result : { ...result, warnings: [...unchecked, ...notes, ...unmatched] };
}
