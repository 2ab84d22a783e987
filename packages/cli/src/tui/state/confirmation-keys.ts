/** The keys of a confirmation. Only a letter can allow a call. Enter and Escape mean no. */

import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import type { Key } from "../input/keys.ts";
import type { KeyStep } from "./questions.ts";
import { type Extent, scrollKey } from "./scroll.ts";

/** How far the user has scrolled, in rows. */
export interface ConfirmationState {
  readonly scroll: number;
}

/** A letter that answers a confirmation, and its label. */
export interface AnswerKey {
  readonly letter: string;
  readonly words: string;
  /** The label for a narrow screen. */
  readonly short: string;
  readonly outcome: ToolConfirmationOutcome;
}

const answerKeys: readonly AnswerKey[] = [
  { letter: "y", words: "yes, once", short: "once", outcome: ToolConfirmationOutcome.ProceedOnce },
  { letter: "t", words: "always this tool", short: "tool", outcome: ToolConfirmationOutcome.ProceedAlwaysTool },
  { letter: "s", words: "always this server", short: "server", outcome: ToolConfirmationOutcome.ProceedAlwaysServer },
  { letter: "a", words: "always, and save", short: "save", outcome: ToolConfirmationOutcome.ProceedAlwaysAndSave },
  { letter: "n", words: "no (also Enter, Esc)", short: "no", outcome: ToolConfirmationOutcome.Cancel },
];

/** Returns the keys for these outcomes. The key for "no" is always included. */
export function offeredKeys(outcomes: readonly ToolConfirmationOutcome[]): readonly AnswerKey[] {
  return answerKeys.filter(({ outcome }) => outcome === ToolConfirmationOutcome.Cancel || outcomes.includes(outcome));
}

/** Returns the answer that a key gives, or the new scroll position. */
export function confirmationKey(
  state: ConfirmationState,
  key: Key,
  { outcomes, extent }: { readonly outcomes: readonly ToolConfirmationOutcome[]; readonly extent: Extent },
): KeyStep<ConfirmationState, "confirmation"> {
  if (key.name === "escape" || key.name === "enter") return { answer: ToolConfirmationOutcome.Cancel };
  // Several letters at once match no key, because they are text for the prompt.
  const letter = key.name === "text" && key.ctrl !== true && key.meta !== true ? key.text?.toLowerCase() : undefined;
  const answered = offeredKeys(outcomes).find((each) => each.letter === letter);
  if (answered !== undefined) return { answer: answered.outcome };
  return { state: { scroll: scrollKey(state.scroll, key, extent) ?? state.scroll } };
}
