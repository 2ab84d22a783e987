// What all connections to the conformance server share: lists that change, and the connections that are told.
import { askingTools } from "./asking-tools.mjs";
import { extraTool, plainTools } from "./tools.mjs";

export function createCatalog() {
  const present = new Set();
  const listeners = new Set();
  const tell = (change) => {
    for (const listener of listeners) listener(change);
  };

  return {
    /** Whether the list has its extra item now. */
    has: (list) => present.has(list),
    /** Adds the extra item of a list, or removes it. */
    change(list) {
      if (!present.delete(list)) present.add(list);
      tell({ list });
    },
    update: (uri) => tell({ uri }),
    tools: () => [...plainTools, ...askingTools, ...(present.has("tools") ? [extraTool] : [])],
    /** Calls back with `{ list }` or `{ uri }`. Returns the function that stops listening. */
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
