/** Code in colours. What it takes is large, and is loaded when the first code is shown; until then code is plain. */

import type { Highlight } from "./highlight.ts";

export interface Highlighter {
  /** Undefined until it is there. */
  readonly get: () => Highlight | undefined;
  /** Begins to load it. */
  readonly want: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createHighlighter(): Highlighter {
  const listeners = new Set<() => void>();
  let highlight: Highlight | undefined;
  let isWanted = false;

  async function load(): Promise<void> {
    const loaded = await import("./highlight.ts");
    highlight = loaded.createHighlight();
    for (const listener of listeners) listener();
  }

  return {
    get: () => highlight,
    want() {
      if (isWanted) return;
      isWanted = true;
      // Plain code can be read as well.
      load().catch(() => undefined);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
