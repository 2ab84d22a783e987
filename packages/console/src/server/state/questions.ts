/**
 * The questions that wait for a person: confirmations of the console's own requests, and what servers ask. The
 * confirmations of other programs are in the inbox (`inbox-questions.ts`). The first answer counts, wherever it is given.
 */

import { HostError } from "@fairlead/core/errors";
import {
  type ConfirmationView,
  choiceText,
  outcomeOf,
  requestVerbs,
  type ToolCallConfirmationDetails,
  type ToolConfirmationOutcome,
  toConfirmationView,
} from "@fairlead/core/policy";
import type { ConsoleEvent } from "../../protocol/events.ts";
import type { Answer, Question } from "../../protocol/rows.ts";

/** Who answers in the console, as other programs show it. */
export const answeredBy = "the console";

/** What became of an answer. */
export interface AnswerOutcome {
  readonly isFirst: boolean;
  readonly text: string;
}

type Open<K extends Question["kind"]> = Extract<Question, { readonly kind: K }>;
type Asked<K extends Question["kind"]> = Omit<Open<K>, "id" | "since">;
type AnswerTo<K extends Question["kind"]> = Answer & { readonly kind: K };

interface OpenQuestion {
  readonly question: Question;
  readonly check: (answer: Answer) => Promise<void>;
  readonly settle: (answer: Answer) => string;
}

/** Who sends a request of this console. */
export interface Asker {
  readonly who: "user" | "model" | "client";
  readonly from: string;
  /** Whether a view asks that the person sees. */
  readonly isView?: boolean;
  /** The call that waits, if the page has begun it. */
  readonly call?: string;
}

/** Answered questions that a later answer still finds. */
const mostAnswered = 200;

interface QuestionsOptions {
  readonly emit: (event: ConsoleEvent) => void;
  /** The current time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** The questions of this console's process. */
export class Questions implements Disposable {
  readonly #options: QuestionsOptions;
  readonly #open = new Map<string, OpenQuestion>();
  /** The texts of the latest answers, by the question's id. */
  readonly #answered = new Map<string, string>();
  readonly #closing = new AbortController();
  #count = 0;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Those that wait, oldest first. */
  open(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  has(id: string): boolean {
    return this.#open.has(id) || this.#answered.has(id);
  }

  /**
   * Shows a question until it is answered. Resolves with undefined if `signal` is aborted or the console closes first:
   * a question without an answer is never taken for answered.
   *
   * @param tellAnswer Returns the answer in words, for those who answer later.
   * @param check Rejects with HostError `usage` if the question cannot be answered like this. It then stays open.
   */
  ask<K extends Question["kind"]>(
    asked: Asked<K>,
    signal: AbortSignal,
    tellAnswer: (answer: AnswerTo<K>) => string,
    check: (answer: AnswerTo<K>) => Promise<void> = async () => {},
  ): Promise<AnswerTo<K> | undefined> {
    const until = AbortSignal.any([signal, this.#closing.signal]);
    if (until.aborted) return Promise.resolve(undefined);
    this.#count += 1;
    const id = `own-${this.#count}`;
    const question = { ...asked, id, since: this.#options.now() } as unknown as Question;
    return new Promise((resolve) => {
      const end = (given: AnswerTo<K> | undefined, text: string | undefined): void => {
        until.removeEventListener("abort", withdraw);
        this.#open.delete(id);
        const by = text === undefined ? undefined : answeredBy;
        this.#options.emit({ type: "answered", id, by, answer: text });
        resolve(given);
      };
      const withdraw = (): void => end(undefined, undefined);
      until.addEventListener("abort", withdraw, { once: true });
      this.#open.set(id, {
        question,
        check: (answer) => check(answer as AnswerTo<K>),
        settle: (answer) => {
          const given = answer as AnswerTo<K>;
          const text = tellAnswer(given);
          this.#remember(id, text);
          end(given, text);
          return text;
        },
      });
      this.#options.emit({ type: "question", question });
    });
  }

  /** Asks about a request of this console, as its host wants it confirmed. */
  async confirm(
    details: ToolCallConfirmationDetails,
    { who, from, call, isView }: Asker,
    signal: AbortSignal,
  ): Promise<ToolConfirmationOutcome | undefined> {
    const view = toConfirmationView(details, { who, isView });
    const question = { ...toRequestQuestion(view, from), call };
    const answer = await this.ask<"request">(question, signal, ({ choice }) =>
      details.isOutdated?.() === true && choice !== "no"
        ? "the definition changed while the question was open: the answer has no effect"
        : choiceText(choice, view),
    );
    return answer && outcomeOf(answer.choice, view.kind);
  }

  /**
   * Answers a question of this process.
   *
   * @throws HostError `not_found`; `usage` if the answer is not one of those that the question offers
   */
  async answer(id: string, answer: Answer): Promise<AnswerOutcome> {
    const asked = this.#open.get(id);
    if (asked !== undefined) checkAnswer(asked.question, answer);
    await asked?.check(answer);
    // Another answer may have come meanwhile.
    const open = this.#open.get(id);
    if (open !== undefined) return { isFirst: true, text: `Your answer: ${open.settle(answer)}.` };
    const earlier = this.#answered.get(id);
    if (earlier !== undefined)
      return { isFirst: false, text: `This question already has an answer, from ${answeredBy}: ${earlier}.` };
    throw unknownQuestion(id);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  #remember(id: string, text: string): void {
    this.#answered.set(id, text);
    if (this.#answered.size > mostAnswered)
      for (const oldest of this.#answered.keys()) if (this.#answered.delete(oldest)) break;
  }
}

export function unknownQuestion(id: string): HostError {
  return new HostError(
    "not_found",
    `the question ${id.slice(0, 20)} was not found: it was withdrawn, or it has expired`,
  );
}

/**
 * Checks that the question offers this answer.
 *
 * @throws HostError `usage`
 */
export function checkAnswer(question: Question, answer: Answer): void {
  if (question.kind !== answer.kind)
    throw new HostError("usage", `the parameter answer must be about a question of the kind ${question.kind}`);
  if (question.kind !== "request" || answer.kind !== "request") return;
  const offered = question.choices.map(({ value }) => value);
  if (!offered.includes(answer.choice))
    throw new HostError("usage", `the parameter answer.choice must be one of: ${offered.join(", ")}`);
}

/** What the page shows of a confirmation. */
export function toRequestQuestion(view: ConfirmationView, from: string): Asked<"request"> {
  const {
    server,
    kind,
    name,
    folder,
    description,
    hints,
    flags,
    sandbox,
    args,
    isCut = false,
    digest,
    reason,
    change,
    answers,
  } = view;
  return {
    kind: "request",
    server,
    from,
    request: kind,
    isAwaited: true,
    verb: requestVerbs[kind],
    name,
    folder,
    description,
    hints,
    flags,
    sandbox,
    args,
    isCut,
    digest,
    reason,
    change,
    choices: answers.map((value) => ({ value, text: choiceText(value, view) })),
    deadline: view.deadline,
  };
}
