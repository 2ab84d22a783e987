/** The type of a slash command, and functions that several commands use. */

import type { HostPrompt } from "@fairlead/core/host";
import { splitWords } from "@fairlead/core/request";
import type { Style } from "../../output/output.ts";
import { plainStyle } from "../captured.ts";
import type { CompletionItem } from "../input/completion.ts";
import type { Services } from "../services.ts";

/** A command that the user runs with `/name`: one of Fairlead itself, or a server's prompt. */
export interface SlashCommand {
  readonly name: string;
  readonly summary: string;
  /** The arguments of the command, as `/help` shows them. */
  readonly usage?: string | undefined;
  readonly prompt?: HostPrompt;
  /** Returns suggestions for the next argument. `before`: the arguments already typed. Must answer at once. */
  readonly complete?: (before: readonly string[], services: Services) => readonly CompletionItem[];
  /** Runs the command. `words`: the text after its name. The app shows the error if this throws. */
  readonly run: (words: string, services: Services) => void | Promise<void>;
}

/** Returns all servers as suggestions, each with its status. */
export function serverNames({ session }: Services): readonly CompletionItem[] {
  return session.host.states().map(({ name, status }) => ({ value: name, about: status.replaceAll("_", " ") }));
}

/** Splits a command's arguments at spaces. Quotes and backslashes keep spaces inside a word. */
export function wordsOf(line: string): readonly string[] {
  return splitWords(line).map(({ text }) => text);
}

/** Columns at the right of the screen that a list leaves empty. */
const margin = 4;
const narrowest = 20;

/** Returns how commands format lists in the app: without styles, and slightly narrower than the screen. */
export function lookFor({ session }: Services): { readonly style: Style; readonly columns: number } {
  return { style: plainStyle, columns: Math.max(narrowest, session.store.get().size.columns - margin) };
}

/**
 * Returns the server that `line` names, or undefined if `line` is empty.
 * @throws HostError `server_unknown`
 */
export function namedServer(line: string, { servers }: Services): string | undefined {
  const name = line.trim();
  return name === "" ? undefined : servers.stateOf(name).name;
}
