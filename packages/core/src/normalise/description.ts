/** A tool's description as a model is shown it: no invisible instructions, and not without end. Pure. */

import { toModelText } from "../text/model-text.ts";

const longest = 4096;

export function describeForModel(description: string): string {
  const text = toModelText(description);
  if (text.length <= longest) return text;
  const ending = `… [cut here: the description has ${text.length} characters]`;
  // Half of a pair of surrogates is no character.
  return `${text.slice(0, longest - ending.length).replace(/[\ud800-\udbff]$/, "")}${ending}`;
}
