/** Explains to a model that a tool name is unknown, with suggestions. Pure. */

import { toLabel } from "../normalise/content/shorten.ts";
import { closest } from "../text/closest.ts";
import type { Named } from "./conversation-tools.ts";

const mostNames = 3;

/** Returns the text for the model. */
export function explainUnknown(name: string, why: string | undefined, known: readonly Named[]): string {
  const what =
    why === undefined ? `there is no tool "${toLabel(name)}"` : `"${toLabel(name)}" cannot be called: ${toLabel(why)}`;
  const near = nearNames(name, known);
  return near.length === 0 ? what : `${what}; similar: ${near.join(", ")}`;
}

/** Models often use the server's own tool name, with or without the server's name. */
function nearNames(wanted: string, known: readonly Named[]): readonly string[] {
  const meant = known.filter(
    ({ server = "", serverToolName = "" }) =>
      wanted === serverToolName || [".", "__", "_", "/", ":"].some((sign) => wanted === server + sign + serverToolName),
  );
  const near = meant.map(({ name }) => name);
  const others = new Set(known.map(({ name }) => name));
  for (let found = closest(wanted, others); found !== undefined && near.length < mostNames; ) {
    others.delete(found);
    near.push(found);
    found = closest(wanted, others);
  }
  return [...new Set(near)].slice(0, mostNames);
}
