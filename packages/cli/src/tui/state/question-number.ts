/** Which of how many questions is asked: those of the turn come one by one, so calls that wait for theirs count too. Pure. */

import type { AppState } from "./app-state.ts";
import type { QuestionNumber } from "./questions.ts";

export function questionNumber({ questions, items, settled }: AppState): QuestionNumber {
  const waiting = items.slice(settled).filter((item) => item.kind === "call" && item.call.status === "requested");
  const isOfTurn = questions.some(({ kind }) => kind === "confirmation");
  return { index: 1, total: questions.length + (isOfTurn ? waiting.length : 0) };
}
