// What all connections to the conformance server share: the lists that change, the listeners for changes, and tasks.
import { questionTools } from "./question-tools.mjs";
import { taskTools } from "./task-tools.mjs";
import { createTasks } from "./tasks.mjs";
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
    tasks: createTasks(),
    tools: () => [...plainTools, ...questionTools, ...taskTools, ...(present.has("tools") ? [extraTool] : [])],
    /** Calls a function with `{ list }` or `{ uri }` after each change. Returns the function that stops listening. */
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
