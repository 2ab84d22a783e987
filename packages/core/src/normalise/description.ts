/** Prepares a tool's description for a model: removes invisible characters and limits its length. Pure. */

import { toModelText } from "../text/model-text.ts";

const longest = 4096;

/** Returns the description. If it is too long, a note at its end says so. */
export function describeForModel(description: string): string {
  const text = toModelText(description);
  if (text.length <= longest) return text;
  const ending = `… [cut here: the description has ${text.length} characters]`;
  // Removes the first half of a surrogate pair if the second half was cut off.
  return `${text.slice(0, longest - ending.length).replace(/[\ud800-\udbff]$/, "")}${ending}`;
}
