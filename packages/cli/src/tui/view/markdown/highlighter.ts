/** Loads syntax highlighting when the first code block is shown. Until then, code has no colours. */

import type { Highlight } from "./highlight.ts";

/** Loads highlighting after the first `want`, and then notifies the listeners. */
export interface Highlighter {
  /** Returns the function that highlights code, or undefined if it is not loaded yet. */
  readonly get: () => Highlight | undefined;
  readonly want: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** Creates a highlighter that has loaded nothing yet. */
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
      // Without highlighting, code is shown without colours.
      load().catch(() => undefined);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
