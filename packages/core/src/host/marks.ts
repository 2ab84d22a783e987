/** Tools whose definition is not the one that was shown before: they run only after someone has looked again. */

import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf, isSameDefinition } from "../discover/tool-changes.ts";
import type { Pair } from "../policy/consent.ts";

export interface ChangeMarks {
  /** These are what the server has now. What was not known before is new, not changed. */
  readonly see: (server: string, tools: readonly CatalogTool[]) => void;
  /** Its new definition, if that is not the one that was shown. */
  readonly changeOf: (tool: Pair) => string | undefined;
  /** As it is now, it has been seen. */
  readonly accept: (tool: Pair) => void;
  readonly forget: (server: string) => void;
}

interface Seen {
  /** What was shown, also of tools that are gone: one that comes back as another is no new one. */
  readonly shown: Map<string, CatalogTool>;
  readonly changed: Map<string, CatalogTool>;
}

export function createChangeMarks(): ChangeMarks {
  const servers = new Map<string, Seen>();

  return {
    see(server, tools) {
      const seen: Seen = servers.get(server) ?? { shown: new Map(), changed: new Map() };
      const { shown, changed } = seen;
      for (const tool of tools) {
        const before = shown.get(tool.name);
        if (before === undefined) shown.set(tool.name, tool);
        else if (isSameDefinition(before, tool)) changed.delete(tool.name);
        else changed.set(tool.name, tool);
      }
      servers.set(server, seen);
    },
    changeOf({ serverName, serverToolName }) {
      const tool = servers.get(serverName)?.changed.get(serverToolName);
      return tool && textOf(tool);
    },
    accept({ serverName, serverToolName }) {
      const { shown, changed } = servers.get(serverName) ?? {};
      const tool = changed?.get(serverToolName);
      if (tool) shown?.set(serverToolName, tool);
      changed?.delete(serverToolName);
    },
    forget: (server) => void servers.delete(server),
  };
}

/** Nested deeper than can be walked, it is like nothing else: no yes can be for it. */
function textOf(tool: CatalogTool): string {
  try {
    return definitionOf(tool);
  } catch {
    return `unreadable ${Math.random()}`;
  }
}
