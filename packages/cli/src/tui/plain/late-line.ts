/** Detects a line that was typed as the answer to a question that has closed meanwhile; it must not be sent elsewhere. */

import type { Clock } from "@fairlead/core/clock";
import type { AppState } from "../state/app-state.ts";
import { takesText } from "../state/dialog.ts";

export interface LateLine {
  /** The state has changed. */
  readonly look: () => void;
  /** Whether the last line was started while a question that has closed was open. */
  readonly isLate: () => boolean;
  /** A line was handled: a question that has closed now was answered by it. */
  readonly read: () => void;
}

/** Milliseconds after which a line was started after the question closed. */
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
