/** Completes tools, resources and prompts from cached catalogs. */

import { type CompletionAnswer, nothing, toWords } from "./answer.ts";
import { type CachedServers, withCachedServers } from "./cached-servers.ts";
import { suggestCallWords, suggestTools } from "./call-words.ts";
import type { CompletionContext } from "./completion-context.ts";
import type { Cursor } from "./cursor.ts";
import { suggestPromptArguments, suggestPrompts } from "./prompt-words.ts";
import { suggestResources, suggestVariables } from "./resource-words.ts";
import type { ServerSource } from "./sources.ts";

export async function fromServers(
  source: ServerSource,
  at: Cursor,
  place: CompletionContext,
): Promise<CompletionAnswer> {
  // A server typed with --stdio has no cached catalog.
  if (at.typed.values.has("--stdio")) return nothing;
  return withCachedServers(place, (known) => answerFrom(source, at, known));
}

async function answerFrom(
  source: ServerSource,
  { typed, current }: Cursor,
  known: CachedServers,
): Promise<CompletionAnswer> {
  switch (source) {
    case "call":
      return suggestCallWords(typed, current, known);
    case "tools":
      return toWords(await suggestTools(typed, known));
    case "resources":
      return toWords(await suggestResources(typed, current, known));
    case "variables":
      return toWords(await suggestVariables(typed, known));
    case "prompts":
      return toWords(await suggestPrompts(typed, current, known));
    case "prompt-arguments":
      return toWords(await suggestPromptArguments(typed, known));
  }
}
