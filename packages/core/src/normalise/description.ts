/** Prepares a tool's description for a model: removes invisible characters and limits its length. Pure. */

import { toModelText } from "../text/model-text.ts";

const longest = 4096;

export function describeForModel(description: string): string {
  const text = toModelText(description);
  if (text.length <= longest) return text;
  const ending = `… [cut here: the description has ${text.length} characters]`;
  // Cuts before the first half of a surrogate pair.
  return `${text.slice(0, longest - ending.length).replace(/[\ud800-\udbff]$/, "")}${ending}`;
}
