/** What a command left behind on a machine. */

import { processesWith } from "@fairlead/test-servers";
import type { Machine } from "./machine.ts";

/** Whatever has the machine's home in its environment: commands, their servers, and all that those start. */
export function processesOf({ home }: Machine): readonly string[] {
  return processesWith(`HOME=${home}`);
}
