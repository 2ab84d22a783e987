// Finds the files of a bundle that an entry needs at once.

/**
 * The parts of the command that are loaded together, each defined by the files whose imports it contains. A file belongs
 * to the first part that needs it.
 */
export const commandParts = {
  start: ["shell/main.ts", "shell/run-verb.ts", "commands/mcp/list.ts"],
  host: ["targets/list-servers.ts"],
  app: ["tui/run-app.tsx"],
};

/** A plugin for rolldown that records the static imports of every file, and the files reachable through them. */
export function importGraph() {
  const imported = new Map();
  return {
    plugin: { name: "import-graph", moduleParsed: ({ id, importedIds }) => void imported.set(id, importedIds) },
    /** Returns the files that these files import, directly and indirectly, without files that are loaded later. */
    reachable(...entries) {
      const found = new Set();
      const open = [...entries];
      for (const id of open) {
        if (found.has(id)) continue;
        found.add(id);
        open.push(...(imported.get(id) ?? []));
      }
      return found;
    },
  };
}
