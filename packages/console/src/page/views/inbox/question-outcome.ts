/** How a question ended that was answered in another place, or not at all. */

import type { Question } from "../../../protocol/rows.ts";
import { visibleText } from "../../components/text.tsx";
import type { Answered } from "../../store.ts";
import type { Outcome } from "./question-card.tsx";

export function outcomeOf({ kind }: Question, answered: Answered | undefined): Outcome | undefined {
  if (answered === undefined) return undefined;
  const { by, answer } = answered;
  if (by === undefined) return unanswered[kind];
  return {
    title: `Answered in ${visibleText(by)}`,
    text: answer === undefined ? "The first answer counts." : `The answer was: ${answer}`,
  };
}

const withdrawn: Outcome = {
  title: "No longer open",
  text: "No answer came in time, or the request was withdrawn. Nothing was allowed.",
};

const unanswered: Readonly<Record<Question["kind"], Outcome>> = {
  request: withdrawn,
  form: { title: "No longer open", text: "The server no longer waits for an answer. Nothing was sent." },
  address: { title: "No longer open", text: "The server no longer waits for an answer." },
  // The browser's return answers the question, and so does a failure.
  sign_in: {
    title: "The sign-in has ended",
    text: "The browser came back to Fairlead, or the sign-in failed. The state of the server says which.",
  },
};
