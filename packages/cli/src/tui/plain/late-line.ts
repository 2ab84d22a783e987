/** A question that is typed into may go away by itself while its answer is typed: that line is for nobody else. */

import type { Clock } from "@fairlead/core/clock";
import type { AppState } from "../state/app-state.ts";
import { takesText } from "../state/dialog.ts";

export interface LateLine {
  /** The state has changed. */
  readonly look: () => void;
  /** Whether the line that was just ended was begun as an answer to what is gone. */
  readonly isLate: () => boolean;
  /** A line was read: what has gone now went because of it. */
  readonly read: () => void;
}

/** Milliseconds: what is ended later was begun by somebody who could know. */
const longestLine = 5000;

export function createLateLine({ get, clock }: { readonly get: () => AppState; readonly clock: Clock }): LateLine {
  let open: string | undefined;
  let goneAt: number | undefined;

  function look(): void {
    const [first] = get().questions;
    if (open !== undefined && first?.key !== open) goneAt = clock.now();
    open = first !== undefined && takesText(first) ? first.key : undefined;
  }

  return {
    look,
    isLate() {
      look();
      return goneAt !== undefined && clock.now() - goneAt < longestLine;
    },
    read() {
      look();
      goneAt = undefined;
    },
  };
}
