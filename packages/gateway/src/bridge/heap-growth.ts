/**
 * Keeps the garbage of large results small. A result of 20 MB leaves six texts of this size behind while it is read,
 * parsed and written again. V8 lets its heap grow to several times what is in use before it collects them, so a few
 * such results would cost the gateway hundreds of megabytes.
 */

import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects garbage when large messages have made the heap grow by this many bytes since the last time. V8's own
 * collections count.
 */
const mostGrowth = 32 * 1024 * 1024;

/**
 * If the heap grows by less than this from one check to the next, only small messages were handled. V8 collects their
 * garbage itself, and at less cost than a full collection.
 */
const largeStep = 1024 * 1024;

export interface HeapGrowthOptions {
  /** Returns the bytes in use, garbage included. Default: those of V8's heap and of its buffers. */
  readonly used?: () => number;
  /** Default: V8's full collection. */
  readonly collect?: () => void;
}

/** Watches the heap. Call `check` when a result has arrived, and `checkSoon` when its response is about to be written. */
export class HeapGrowth {
  readonly #used: () => number;
  readonly #collect: () => void;
  /** The lowest use since the last collection. */
  #lowest = Number.POSITIVE_INFINITY;
  /** The use at the last check. */
  #last = Number.POSITIVE_INFINITY;
  /** The growth by large messages since the lowest use. */
  #grown = 0;
  #isSoon = false;

  constructor({ used = bytesInUse, collect = createCollect() }: HeapGrowthOptions = {}) {
    this.#used = used;
    this.#collect = collect;
  }

  check(): void {
    const used = this.#used();
    const step = used - this.#last;
    this.#last = used;
    if (used < this.#lowest) this.#startAt(used);
    if (step < largeStep) return;
    this.#grown += step;
    if (this.#grown < mostGrowth || used - this.#lowest < mostGrowth) return;
    this.#collect();
    // What is still in use is no garbage. Only further growth is a reason to collect again.
    this.#startAt(this.#used());
  }

  /**
   * Checks in the next turn of the event loop: the response is written by then, also if its client does not read it. Calls
   * in the same turn share one check.
   */
  checkSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    setImmediate(() => {
      this.#isSoon = false;
      this.check();
    });
  }

  #startAt(used: number): void {
    this.#lowest = used;
    this.#last = used;
    this.#grown = 0;
  }
}

function bytesInUse(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics();
  return heap + buffers;
}

/** V8 gives its collector only to contexts that are created while the flag is set. */
function createCollect(): () => void {
  let collect: (() => void) | undefined;
  return () => {
    if (collect === undefined) {
      setFlagsFromString("--expose-gc");
      collect = runInNewContext("gc") as () => void;
      // A code cache fits only the flags with which it was made.
      setFlagsFromString("--no-expose-gc");
    }
    collect();
  };
}
