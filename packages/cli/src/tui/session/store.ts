/** Holds the state of the app and notifies listeners of changes. */

import type { AppEvent, AppState } from "../state/app-state.ts";
import { reduce } from "../state/reduce.ts";

/** The app's state. Only `dispatch` changes it. */
export interface Store {
  readonly get: () => AppState;
  readonly dispatch: (event: AppEvent) => void;
  /** Adds a listener. Returns the function that removes it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** Creates the store. It notifies listeners once for many events, because a model's text arrives in small pieces. */
export function createStore(initial: AppState): Store {
  const listeners = new Set<() => void>();
  let state = initial;
  let isDue = false;

  function tell(): void {
    isDue = false;
    for (const listener of listeners) listener();
  }

  return {
    get: () => state,
    dispatch(event) {
      const next = reduce(state, event);
      if (next === state) return;
      state = next;
      if (isDue) return;
      isDue = true;
      setImmediate(tell);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
