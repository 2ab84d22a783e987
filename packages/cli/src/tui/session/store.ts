/** Holds the app's state and tells listeners about changes. */

import type { AppEvent, AppState } from "../state/app-state.ts";
import { reduce } from "../state/reduce.ts";

/** The app's state. It notifies listeners once for many events, because a model's text arrives in small pieces. */
export class Store {
  readonly #listeners = new Set<() => void>();
  #state: AppState;
  #isDue = false;

  constructor(initial: AppState) {
    this.#state = initial;
  }

  readonly get = (): AppState => this.#state;

  readonly dispatch = (event: AppEvent): void => {
    const next = reduce(this.#state, event);
    if (next === this.#state) return;
    this.#state = next;
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const listener of this.#listeners) listener();
    });
  };

  /** Adds a listener. Returns the function that removes it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
