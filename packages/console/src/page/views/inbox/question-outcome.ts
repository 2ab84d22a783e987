/** How a question ended that was answered in another place, or by nobody. */

import { visibleText } from "../../components/text.tsx";
import type { Answered } from "../../store.ts";
import type { Outcome } from "./question-card.tsx";

export function outcomeOf(answered: Answered | undefined): Outcome | undefined {
  if (answered === undefined) return undefined;
  const { by, answer } = answered;
  if (by === undefined)
    return {
      title: "No longer open",
      text: "No answer came in time, or the request was withdrawn. Nothing was allowed.",
    };
  return {
    title: `Answered in ${visibleText(by)}`,
    text: answer === undefined ? "The first answer counts." : `The answer was: ${answer}`,
  };
}
