/** Collects the restrictions of `mcp.excluded` and `fairlead.permissions`, each with its file and line for messages. */

import type { Gate, Origin } from "../define/definition.ts";
import type { CheckedSource } from "../schema/checked.ts";
import { childNode, entriesOf, itemNodes, stringNode, textsOf } from "./nodes.ts";

/** `sources` are those that count, weakest first. */
export function gatesOf(sources: readonly CheckedSource[]): readonly Gate[] {
  return [
    ...listed(sources, "mcp", "excluded").map(({ text, ...where }) => ({ ...where, server: text })),
    ...listed(sources, "fairlead", "permissions", "denyTools").map(({ text, ...where }) => ({
      ...where,
      tools: { only: text },
    })),
    ...permissions(sources),
  ];
}

/** A text in place of a list counts as a list of one: the stricter reading of a mistake. */
function listed(
  sources: readonly CheckedSource[],
  ...path: readonly string[]
): readonly { readonly setting: string; readonly origin: Origin; readonly text: string }[] {
  return sources.flatMap((source) => {
    const node = childNode(source.root, ...path);
    return [node ?? [], itemNodes(node)].flat().flatMap((item) => {
      const text = stringNode(item);
      return text === undefined ? [] : [{ setting: path.join("."), origin: source.originOf(item), text }];
    });
  });
}

/** Of the person's own lists for a server the strongest counts; the workspace's closes what that leaves open. */
function permissions(sources: readonly CheckedSource[]): readonly Gate[] {
  const own = new Map<string, Gate>();
  const workspace: Gate[] = [];
  for (const source of sources) {
    for (const { name, key, value } of entriesOf(
      childNode(source.root, "fairlead", "permissions", "servers"),
    ).values()) {
      const gate: Gate = {
        setting: `fairlead.permissions.servers.${name}`,
        origin: source.originOf(key),
        server: name,
        tools: { allBut: textsOf(value) },
      };
      if (source.scope === "workspace") workspace.push(gate);
      else own.set(name, gate);
    }
  }
  return [...own.values(), ...workspace];
}
