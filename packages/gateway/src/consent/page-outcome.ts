/** The sentences that a person reads after answering on the page. */

import { type ConsentAnswer, type ConsentQuestion, confirmedName } from "./confirmed-request.ts";
import type { GivenAnswer } from "./inbox-folder.ts";

/** The value of `GivenAnswer.by` for an answer that a person gave on the page. */
export const onThePage = "the page";

/** Returns the text for a person whose yes came after the tool's definition had changed. */
export function outdatedText(question: ConsentQuestion): string {
  return `The definition of ${confirmedName(question)} changed while this question was open. Nothing was run, and your answer has no effect. Send the request again in the program. Fairlead then shows the change and asks you again.`;
}

/** Returns a sentence for the person who answered on the page. */
export function pageOutcomeText(first: GivenAnswer | undefined, answer: ConsentAnswer): string {
  if (first === undefined)
    return "This question has expired: the program no longer waits for an answer. Nothing was run.";
  if (first.answer !== answer || first.by !== onThePage)
    return `This question was already answered through ${first.by}: ${words[first.answer]}.`;
  return `Your answer: ${words[answer]}. You can close this page.`;
}

const words: Readonly<Record<ConsentAnswer, string>> = {
  no: "no",
  once: "yes, once",
  conversation: "yes, in this conversation",
  always: "yes, always",
};
