/** What servers offer, as far as it is known from earlier runs. */

import { type Answer, nothing, toWords } from "./answer.ts";
import { offerCallWords, offerTools } from "./call-words.ts";
import type { Cursor } from "./cursor.ts";
import { type Known, withKnown } from "./known.ts";
import type { Place } from "./place.ts";
import { offerPromptArguments, offerPrompts } from "./prompt-words.ts";
import { offerResources, offerVariables } from "./resource-words.ts";
import type { ServerSource } from "./sources.ts";

export async function fromServers(source: ServerSource, at: Cursor, place: Place): Promise<Answer> {
  // Nothing is known of a server that is being typed.
  if (at.typed.values.has("--stdio")) return nothing;
  return withKnown(place, (known) => answerFrom(source, at, known));
}

async function answerFrom(source: ServerSource, { typed, current }: Cursor, known: Known): Promise<Answer> {
  switch (source) {
    case "call":
      return offerCallWords(typed, current, known);
    case "tools":
      return toWords(await offerTools(typed, known));
    case "resources":
      return toWords(await offerResources(typed, current, known));
    case "variables":
      return toWords(await offerVariables(typed, known));
    case "prompts":
      return toWords(await offerPrompts(typed, current, known));
    case "prompt-arguments":
      return toWords(await offerPromptArguments(typed, known));
  }
}
