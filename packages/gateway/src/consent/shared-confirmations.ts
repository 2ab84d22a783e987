/**
 * Puts the confirmations of a conversation into the inbox, so that a person can also answer them in another program,
 * such as the console. The first answer counts. Without an answer, nothing runs.
 */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "@fairlead/core/clock";
import type { ConfirmationView } from "@fairlead/core/policy";
import { consentAnswers } from "./confirmed-request.ts";
import { type OpenQuestion, OpenQuestions } from "./open-questions.ts";

export type { GivenAnswer } from "./inbox-folder.ts";

/** A confirmation that stands in the inbox. */
export type SharedConfirmation = Pick<OpenQuestion, "id" | "answered" | "answer" | "withdraw">;

/** The confirmations of one program. */
export class SharedConfirmations {
  readonly #questions: OpenQuestions;
  readonly #program: string;

  /**
   * @param stateFolder The state folder, `~/.fairlead`.
   * @param program The program with the conversation, as other programs show it.
   */
  constructor(
    stateFolder: string,
    program: string,
    clock: Pick<Clock, "after"> = systemClock,
    now: () => number = Date.now,
  ) {
    this.#questions = new OpenQuestions(stateFolder, clock, now);
    this.#program = program;
  }

  /** Whether another program shows the inbox to a person. */
  isWatched(): Promise<boolean> {
    return this.#questions.isWatched();
  }

  /**
   * Puts a confirmation into the inbox.
   *
   * @param isOutdated Whether the definition has changed since this call. A yes then has no effect.
   * @throws Error if the inbox cannot be written, or is full
   */
  share(view: ConfirmationView, isOutdated: () => boolean): Promise<SharedConfirmation> {
    const answers = consentAnswers.filter((each) => view.answers.includes(each));
    // No later request can use the answer: the conversation itself asks again.
    const key = randomUUID().replaceAll("-", "").repeat(2);
    return this.#questions.ask({ ...view, client: this.#program, answers, key }, isOutdated);
  }

  close(): void {
    this.#questions.close();
  }
}
