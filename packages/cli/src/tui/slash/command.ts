/** What a slash command of ours is: a file in this folder gives one of these. */

import type { CompletionItem } from "../input/completion.ts";
import type { Services } from "../services.ts";

export interface BuiltIn {
  readonly name: string;
  readonly summary: string;
  /** What may follow the name. */
  readonly usage?: string;
  /** What may stand behind these words, from what is known at once: whoever types waits for nobody. */
  readonly complete?: (before: readonly string[], services: Services) => readonly CompletionItem[];
  /** `words`: what follows the name. What it throws is shown. */
  readonly run: (words: string, services: Services) => void | Promise<void>;
}

/** The names of the servers, for those who complete one. */
export function serverNames({ session }: Services): readonly CompletionItem[] {
  return session.host.states().map(({ name, status }) => ({ value: name, about: status.replaceAll("_", " ") }));
}
