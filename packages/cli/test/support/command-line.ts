/** A program as a person would type it. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { StdioEntry } from "@fairlead/test-servers";

export function commandLine({ command, args }: StdioEntry): string {
  return [command, ...args].map(toShellWord).join(" ");
}
