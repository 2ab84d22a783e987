/** Divides long work into slices, so that other code can run in between. */

/** The amount of work that takes a few milliseconds, in characters of JSON to write or to hash. */
const perTurn = 256 * 1024;

/** Counts work. */
export interface Turns {
  /**
   * Adds the amount of work that was done; returns a promise of the next turn of the event loop if the slice is used
   * up.
   */
  done(size: number): Promise<void> | undefined;
}

export function createTurns(most: number = perTurn): Turns {
  let done = 0;
  return {
    done(size) {
      done += size;
      if (done < most) return undefined;
      done = 0;
      return new Promise((resolve) => setImmediate(resolve));
    },
  };
}
