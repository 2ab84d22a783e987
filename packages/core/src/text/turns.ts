/** Divides long work into slices, so that other code can run between the slices. */

/** The amount of work in one slice, in characters of JSON that are written or hashed. It takes a few milliseconds. */
const perTurn = 256 * 1024;

/** Counts work. */
export interface Turns {
  /**
   * Adds an amount of finished work. When the slice is used up, returns a promise that resolves in the next turn of the
   * event loop.
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
