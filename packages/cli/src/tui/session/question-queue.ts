/** The queue of questions to the user. The app shows one question at a time. */

import {
  type AnswersByKind,
  type Asked,
  type QuestionAnswer,
  refusals,
  type UserQuestion,
} from "../state/questions.ts";
import type { Store } from "./store.ts";

/** Asks the user questions. The open ones are in the app's state, in the order in which they were asked. */
export class QuestionQueue {
  readonly #store: Store;
  readonly #waiting = new Map<string, (answer: QuestionAnswer) => void>();
  #count = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Asks the user. Resolves with the answer. If `signal` aborts, closes the question and resolves with a refusal. */
  readonly ask = <K extends Asked["kind"]>(
    kind: K,
    asked: Extract<Asked, { readonly kind: K }>,
    signal?: AbortSignal,
  ): Promise<AnswersByKind[K]> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(answerTo(kind, refusals[kind]));
      this.#count += 1;
      const question: UserQuestion = { ...asked, key: `question-${this.#count}` };
      const abort = (): void => this.answer(question.key, refusals[kind]);
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.set(question.key, (given) => {
        signal?.removeEventListener("abort", abort);
        resolve(answerTo(kind, given));
      });
      this.#store.dispatch({ type: "ask", question });
    });

  /** Closes the question with this key. */
  readonly answer = (key: string, given: QuestionAnswer): void => {
    const settle = this.#waiting.get(key);
    this.#waiting.delete(key);
    this.#store.dispatch({ type: "asked", key });
    settle?.(given);
  };

  readonly refuseAll = (): void => {
    for (const { key, kind } of this.#store.get().questions) this.answer(key, refusals[kind]);
  };
}

function answerTo<K extends Asked["kind"]>(kind: K, answer: QuestionAnswer): AnswersByKind[K] {
  const given: { readonly kind: string; readonly value: unknown } = answer.kind === kind ? answer : refusals[kind];
  return given.value as AnswersByKind[K];
}
