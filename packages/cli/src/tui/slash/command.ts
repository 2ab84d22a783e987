/** The type of a built-in slash command. */

import type { CompletionItem } from "../input/completion.ts";
import type { Services } from "../services.ts";

export interface BuiltIn {
  readonly name: string;
  readonly summary: string;
  /** The arguments, as `/help` shows them. */
  readonly usage?: string;
  /** Suggestions for the word after `before`. Synchronous: typing must not wait. */
  readonly complete?: (before: readonly string[], services: Services) => readonly CompletionItem[];
  /** Runs the command with the text after its name. The app shows what it throws. */
  readonly run: (words: string, services: Services) => void | Promise<void>;
}

/** Suggestions for a server name. */
export function serverNames({ session }: Services): readonly CompletionItem[] {
  return session.host.states().map(({ name, status }) => ({ value: name, about: status.replaceAll("_", " ") }));
}
