/** The number of the open question among all questions; requested calls count, because each will ask. Pure. */

import type { AppState } from "./app-state.ts";
import type { QuestionNumber } from "./questions.ts";

export function questionNumber({ questions, items, settled }: AppState): QuestionNumber {
  const waiting = items.slice(settled).filter((item) => item.kind === "call" && item.call.status === "requested");
  const isOfTurn = questions.some(({ kind }) => kind === "confirmation");
  return { index: 1, total: questions.length + (isOfTurn ? waiting.length : 0) };
}
