// Finds the files of a bundle that an entry needs at once.
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { behindDoor, doorFolder, nodesOf, specifierOf } from "./checks/sources.mjs";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");

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
export function importGraph(root = repository) {
  const imported = new Map();
  const isDoor = (id) => id.startsWith(join(root, doorFolder));
  return {
    plugin: {
      name: "import-graph",
      async moduleParsed({ id, importedIds }) {
        const doors = importedIds.filter(isDoor);
        const behind = doors.length === 0 ? [] : await filesBehind(doors, id, root);
        imported.set(id, [...importedIds.filter((file) => !isDoor(file)), ...behind]);
      },
    },
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

/** Returns the files of the names that a file takes from doors. */
async function filesBehind(doors, id, root) {
  const files = [];
  for (const node of await nodesOf(root, relative(root, id).replaceAll(sep, "/"))) {
    const door = specifierOf(node)?.replace("@fairlead/core/", doorFolder).concat(".ts");
    if (node.type === "ImportDeclaration" && !node.typeOnly && doors.includes(join(root, door)))
      files.push(...behindDoor(node, door, await nodesOf(root, door)));
  }
  return files.map((file) => join(root, file));
}
