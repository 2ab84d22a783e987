/** The queue of questions to the user. The app shows one question at a time. */

import {
  type AnswersByKind,
  type Asked,
  type QuestionAnswer,
  refusals,
  type UserQuestion,
} from "../state/questions.ts";
import type { Store } from "./store.ts";

/** Asks the user questions. `answer` and `refuseAll` close open questions. */
export interface QuestionQueue {
  /** Asks the user. Resolves with the answer. If `signal` aborts, closes the question and resolves with a refusal. */
  readonly ask: <K extends Asked["kind"]>(
    kind: K,
    asked: Extract<Asked, { readonly kind: K }>,
    signal?: AbortSignal,
  ) => Promise<AnswersByKind[K]>;
  readonly answer: (key: string, answer: QuestionAnswer) => void;
  readonly refuseAll: () => void;
}

/** Creates the queue. The open questions are in the app's state, in the order in which they were asked. */
export function createQuestionQueue({ get, dispatch }: Store): QuestionQueue {
  const waiting = new Map<string, (answer: QuestionAnswer) => void>();
  let count = 0;

  function answer(key: string, given: QuestionAnswer): void {
    const settle = waiting.get(key);
    waiting.delete(key);
    dispatch({ type: "asked", key });
    settle?.(given);
  }

  return {
    answer,
    ask(kind, asked, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve(answerTo(kind, refusals[kind]));
        count += 1;
        const question: UserQuestion = { ...asked, key: `question-${count}` };
        const abort = (): void => answer(question.key, refusals[kind]);
        signal?.addEventListener("abort", abort, { once: true });
        waiting.set(question.key, (given) => {
          signal?.removeEventListener("abort", abort);
          resolve(answerTo(kind, given));
        });
        dispatch({ type: "ask", question });
      });
    },
    refuseAll() {
      for (const { key, kind } of get().questions) answer(key, refusals[kind]);
    },
  };
}

function answerTo<K extends Asked["kind"]>(kind: K, answer: QuestionAnswer): AnswersByKind[K] {
  const given: { readonly kind: string; readonly value: unknown } = answer.kind === kind ? answer : refusals[kind];
  return given.value as AnswersByKind[K];
}
