/** Loads syntax highlighting when the first code block is shown. Until then, code has no colours. */

import type { Highlight } from "./highlight.ts";

export interface Highlighter {
  /** Highlights code. Returns undefined until highlighting is loaded. */
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
      // If highlighting cannot be loaded, code has no colours.
      load().catch(() => undefined);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
