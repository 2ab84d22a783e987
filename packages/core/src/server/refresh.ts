/**
 * Reads changed lists again: at once, or with growing pauses if the server keeps reporting changes. A request that
 * depends on a changed list does not wait for the end of a pause.
 */

import type { Clock } from "../clock.ts";
import type { ListName } from "../events.ts";

const shortestPause = 1000;
const longestPause = 30_000;

/** Schedules the reading of changed lists. After each reading it pauses for 1 s; if changes go on, up to 30 s. */
export class Refresh {
  readonly #read: (lists: readonly ListName[]) => Promise<readonly ListName[]>;
  readonly #clock: Clock;
  /** Lists that were reported after their last reading began. */
  readonly #changed = new Set<ListName>();
  /** Lists whose last reading failed. They are read again when they are reported again, or when a request needs them. */
  readonly #failed = new Set<ListName>();
  #reading: { readonly lists: readonly ListName[]; readonly done: Promise<void> } | undefined;
  /** The reading that requests wait for while another one runs. */
  #next: Promise<void> | undefined;
  #isStarted = false;
  #isOver = false;
  #pause = shortestPause;
  #cancelTimer: (() => void) | undefined;

  /** @param read Reads these lists. Resolves with those that could not be read; never rejects. */
  constructor(read: (lists: readonly ListName[]) => Promise<readonly ListName[]>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  changed(...lists: readonly ListName[]): void {
    for (const list of lists) this.#changed.add(list);
    this.#runIfDue();
  }

  /**
   * Returns undefined if the list is as the server last reported it. Otherwise resolves when it was read again, or
   * could not be read. All callers share one reading. A server that reports changes without end delays no caller for
   * longer than the reading that runs and the next one.
   */
  upToDate(list: ListName): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    if (this.#failed.has(list)) this.#changed.add(list);
    if (!this.#changed.has(list)) return this.#reading?.lists.includes(list) ? this.#reading.done : undefined;
    if (this.#next !== undefined) return this.#next;
    if (this.#reading === undefined) return this.#run();
    this.#next = this.#reading.done.then(() => {
      this.#next = undefined;
      return this.#isOver ? undefined : this.#run();
    });
    return this.#next;
  }

  /** Starts to read changed lists, including lists reported before this call. Call it after the first catalog is read. */
  start(): void {
    this.#isStarted = true;
    this.#runIfDue();
  }

  stop(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
  }

  #run(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const lists = [...this.#changed];
    this.#changed.clear();
    for (const list of lists) this.#failed.delete(list);
    const done = this.#read(lists).then((unread) => {
      for (const list of unread) this.#failed.add(list);
      this.#reading = undefined;
      if (this.#isStarted && !this.#isOver)
        this.#cancelTimer = this.#clock.after(this.#pause, () => this.#pauseEnded(), { background: true });
    });
    this.#reading = { lists, done };
    return done;
  }

  #pauseEnded(): void {
    this.#cancelTimer = undefined;
    this.#pause = this.#changed.size > 0 ? Math.min(2 * this.#pause, longestPause) : shortestPause;
    this.#runIfDue();
  }

  #runIfDue(): void {
    const isPaused = this.#cancelTimer !== undefined;
    if (this.#isStarted && !this.#isOver && !isPaused && this.#reading === undefined && this.#changed.size > 0)
      void this.#run();
  }
}
