/** What `fairlead.servers.<name>` of all files comes to, for one server. */

import { childNode, stringNode, switchOf } from "../read/nodes.ts";
import type { CheckedSource } from "../schema/checked.ts";
import { present } from "../schema/present.ts";
import type { Origin, ServerExtras } from "./definition.ts";

export const privileges = ["trustAnnotations", "sampling", "machineAuth", "issuerOverride"] as const;

/**
 * `sources` are those that count, weakest first. `privileged` is false for a workspace entry that takes the name of another
 * one: what a person granted to that name was meant for the other.
 */
export function extrasFor(
  name: string,
  sources: readonly CheckedSource[],
  { start, privileged }: { readonly start: ServerExtras["start"]; readonly privileged: boolean },
): ServerExtras {
  const said = (key: string, from = sources) => from.map(({ extras }) => childNode(extras.get(name)?.value, key));
  const granting = privileged ? sources.filter(({ scope }) => scope !== "workspace") : [];
  const granted = (key: string): boolean =>
    said(key, granting)
      .map(switchOf)
      .findLast((value) => value !== undefined) ?? false;
  const starts = said("start").map(stringNode);
  return {
    start: starts.findLast((word) => word === "background" || word === "lazy") ?? start,
    enabled: disabledBy(name, sources) === undefined,
    trustAnnotations: granted("trustAnnotations"),
    sampling: granted("sampling"),
    machineAuth: granted("machineAuth"),
    ...present({
      issuerOverride: said("issuerOverride", granting)
        .map(stringNode)
        .findLast((issuer) => issuer !== undefined),
    }),
  };
}

/** The strongest of the places that switch a server off: any one of them is enough. */
export function disabledBy(name: string, sources: readonly CheckedSource[]): Origin | undefined {
  const places = sources.flatMap((source) => {
    const node = childNode(source.extras.get(name)?.value, "enabled");
    return node !== undefined && switchOf(node) === false ? [source.originOf(node)] : [];
  });
  return places.at(-1);
}
