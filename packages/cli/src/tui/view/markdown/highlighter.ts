/** Loads syntax highlighting when the first code is shown; until then code is plain. */

import type { Highlight } from "./highlight.ts";

export interface Highlighter {
  /** Returns undefined until highlighting is loaded. */
  readonly get: () => Highlight | undefined;
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
      // Without highlighting, code stays plain.
      load().catch(() => undefined);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
