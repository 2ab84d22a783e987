/** Divides long work into slices, so that other code can run between the slices. */

/**
 * The size of one slice in characters of JSON, which take a few milliseconds. If several tasks run, each does one slice
 * per turn of the event loop.
 */
const perTurn = 64 * 1024;

/** Counts finished work, and pauses after each slice. */
export interface Turns {
  /**
   * Adds an amount of finished work. When the slice is used up, returns a promise that resolves in the next turn of the
   * event loop.
   */
  done(size: number): Promise<void> | undefined;
}

/** Creates a counter. `most` is the amount of work in one slice; default: 64 Ki characters. */
export function createTurns(most: number = perTurn): Turns {
  let done = 0;
  return {
    done(size) {
      done += size;
      if (done < most) return undefined;
      done = 0;
      return nextTurn();
    },
  };
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Work that pauses after each slice. The caller may do other work before it asks for the next slice. */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** Does all slices at once, for a caller that cannot wait. */
export function runAtOnce<T>(steps: Sliced<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/**
 * Does one slice in each turn of the event loop. Stops and returns undefined when `isOutdated` returns true, because
 * then the result is no longer needed.
 */
export async function runInTurns<T>(steps: Sliced<T>, isOutdated: () => boolean): Promise<T | undefined> {
  let step = steps.next();
  while (step.done !== true) {
    await nextTurn();
    if (isOutdated()) return undefined;
    step = steps.next();
  }
  return step.value;
}
