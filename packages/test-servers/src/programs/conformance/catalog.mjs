// What all connections to the conformance server share: the lists that change, and the listeners for changes.
import { questionTools } from "./question-tools.mjs";
import { extraTool, plainTools } from "./tools.mjs";

export function createCatalog() {
  const present = new Set();
  const listeners = new Set();
  const tell = (change) => {
    for (const listener of listeners) listener(change);
  };

  return {
    /** Whether the list contains its extra item now. */
    has: (list) => present.has(list),
    /** Adds the extra item of a list, or removes it. */
    change(list) {
      if (!present.delete(list)) present.add(list);
      tell({ list });
    },
    update: (uri) => tell({ uri }),
    tools: () => [...plainTools, ...questionTools, ...(present.has("tools") ? [extraTool] : [])],
    /** Calls a function with `{ list }` or `{ uri }` after each change. Returns the function that stops listening. */
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
