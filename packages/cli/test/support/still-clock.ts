/** A clock that stands still: nothing falls due, however busy the machine is. */

import type { Clock } from "@fairlead/core/clock";

export const stillClock: Clock = { now: () => 0, after: () => () => {} };
