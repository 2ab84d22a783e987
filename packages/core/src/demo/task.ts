/** What a request that takes its time is given: a clock, a signal to stop, and a way to tell how far it is. */

import type { Progress } from "@fairlead/wire";
import type { Clock } from "../clock.ts";

export interface Task {
  readonly clock: Clock;
  /** Aborted with the reason to reject with. */
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
}
