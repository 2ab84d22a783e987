/** Loads syntax highlighting when the first code block is shown. Until then, code has no colours. */

import type { Highlight } from "./highlight.ts";

/** Loads highlighting after the first `want`, and then notifies the listeners. */
export class Highlighter {
  readonly #listeners = new Set<() => void>();
  #highlight: Highlight | undefined;
  #isWanted = false;

  /** Returns the function that highlights code, or undefined if it is not loaded yet. */
  readonly get = (): Highlight | undefined => this.#highlight;

  want(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    // Without highlighting, code is shown without colours.
    this.#load().catch(() => undefined);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async #load(): Promise<void> {
    const { createHighlight } = await import("./highlight.ts");
    this.#highlight = createHighlight();
    for (const listener of this.#listeners) listener();
  }
}
