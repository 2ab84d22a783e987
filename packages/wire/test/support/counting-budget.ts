/** A read budget that notes what is counted, and pauses reading when a test says so. */

import { LargeMessages } from "../../src/rpc/large-messages.ts";
import type { ReadBudget } from "../../src/rpc/read-budget.ts";

export interface CountingBudget extends ReadBudget {
  /** What was counted, in order: the name of the function and its arguments. */
  readonly counted: (readonly unknown[])[];
  /** Makes the budget spent until its reader is called. */
  spend(): void;
  /** The reader that waits, if one does. */
  readonly resume: () => (() => void) | undefined;
}

export function countingBudget(): CountingBudget {
  const counted: (readonly unknown[])[] = [];
  let isSpent = false;
  let waiting: (() => void) | undefined;
  return {
    counted,
    spend() {
      isSpent = true;
    },
    resume: () => waiting,
    bytes: (count) => void counted.push(["bytes", count]),
    lines: (count) => void counted.push(["lines", count]),
    unsolicited: (...given) => void counted.push(["unsolicited", ...given]),
    isSpent: () => isSpent,
    whenRefilled(resume) {
      waiting = () => {
        waiting = undefined;
        isSpent = false;
        resume();
      };
    },
    isWaiting: () => waiting !== undefined,
    stop: () => void counted.push(["stop"]),
    largeMessages: new LargeMessages(),
  };
}
