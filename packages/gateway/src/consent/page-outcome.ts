/** The sentence that a person reads after answering on the page. */

import { type ConsentAnswer, type ConsentQuestion, confirmedName } from "./confirmed-request.ts";
import type { AnsweredQuestion } from "./inbox-answers.ts";

/** The value of `GivenAnswer.by` for answers from the page. */
export const onThePage = "the page";

/** Returns the sentence for a yes that came after the tool's definition had changed. */
export function outdatedText(question: ConsentQuestion): string {
  return `The definition of ${confirmedName(question)} changed while this question was open. Nothing was run, and your answer has no effect. Ask the program to try again: Fairlead then shows you the change and asks again.`;
}

/** Returns the sentence that says whether the answer counts. `first`: the answer that counts. */
export function pageOutcomeText(first: AnsweredQuestion | undefined, answer: ConsentAnswer): string {
  if (first === undefined)
    return "This question has expired: the program no longer waits for an answer. Nothing was run.";
  if (first.isFirst && !first.isAwaited)
    return `Your answer: ${words[first.answer]}. The program no longer waits for it, so nothing was run. If the program sends exactly this request again within ten minutes, ${first.answer === "no" ? "it is refused" : "it runs"}.`;
  if (first.answer !== answer || first.by !== onThePage)
    return `This question already has an answer, from ${first.by}: ${words[first.answer]}.`;
  return `Your answer: ${words[answer]}. You can close this page.`;
}

const words: Readonly<Record<ConsentAnswer, string>> = {
  no: "no",
  once: "yes, once",
  conversation: "yes, in this conversation",
  always: "yes, always",
};
