/** What a call comes to. */

import type { ToolResult } from "@fairlead/wire";

/** What the tool answered. An error that the tool itself reports is an answer too. */
export interface CallResult extends Omit<ToolResult, "notes"> {
  /** What of the call could not be checked, and what of the answer had to be guessed or breaks its promise. */
  readonly warnings?: readonly string[];
}
