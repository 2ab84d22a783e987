/** Divides long work, so that the rest of the program gets its turn in between. */

/** About what takes a few milliseconds: characters of JSON to write or to digest. */
const perTurn = 256 * 1024;

/** Counts work. */
export interface Turns {
  /** Adds the size of the work that was done; returns a promise of the next turn if it is time for it. */
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
