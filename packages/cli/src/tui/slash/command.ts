/** The type of a built-in slash command. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import type { Style } from "../../output/output.ts";
import { plainStyle } from "../captured.ts";
import type { CompletionItem } from "../input/completion.ts";
import type { Services } from "../services.ts";

export interface BuiltIn {
  readonly name: string;
  readonly summary: string;
  /** The arguments of the command, as `/help` shows them. */
  readonly usage?: string;
  /**
   * Returns suggestions for the next argument. `before`: the arguments that are already typed. Synchronous, because
   * typing must not wait.
   */
  readonly complete?: (before: readonly string[], services: Services) => readonly CompletionItem[];
  /** Runs the command with the text after its name. The app shows any error that this function throws. */
  readonly run: (words: string, services: Services) => void | Promise<void>;
}

export function serverNames({ session }: Services): readonly CompletionItem[] {
  return session.host.states().map(({ name, status }) => ({ value: name, about: status.replaceAll("_", " ") }));
}

/** Splits the text after a slash command into words, with shell quoting. */
export function wordsOf(line: string): readonly string[] {
  return splitWords(line).map(({ text }) => text);
}

/** Number of screen columns that a list leaves free. */
const margin = 4;
const narrowest = 20;

export function lookFor({ session }: Services): { readonly style: Style; readonly columns: number } {
  return { style: plainStyle, columns: Math.max(narrowest, session.store.get().size.columns - margin) };
}

/**
 * Returns the server that the line names. Returns undefined if it names none, which means all servers.
 * @throws HostError `server_unknown`
 */
export function namedServer(line: string, { servers }: Services): string | undefined {
  const name = line.trim();
  return name === "" ? undefined : servers.stateOf(name).name;
}
