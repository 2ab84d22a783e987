/**
 * The inbox as questions of the console: the confirmations that gateways of this user wait for, in all workspaces. An
 * answer may also come from the terminal, the app or the client's page.
 */

import { choiceText } from "@fairlead/core/policy";
import type { AnsweredQuestion, ConsentAnswer, Inbox, InboxEntry } from "@fairlead/gateway/consent/inbox";
import type { ConsoleEvent } from "../../protocol/events.ts";
import type { Answer, Question } from "../../protocol/rows.ts";
import { type AnswerOutcome, answeredBy, checkAnswer, toRequestQuestion, unknownQuestion } from "./questions.ts";

interface InboxQuestionsOptions {
  readonly inbox: Inbox;
  readonly emit: (event: ConsoleEvent) => void;
  readonly fail: (error: unknown) => void;
}

/** Watches the inbox, and registers this process as one that shows it to a person. */
export class InboxQuestions implements AsyncDisposable {
  readonly #options: InboxQuestionsOptions;
  readonly #open = new Map<string, { readonly entry: InboxEntry; readonly question: Question }>();
  /** The rows of calls that wait for an answer, by the question's id. */
  readonly #rows = new Map<string, string>();
  #watch: AsyncDisposable | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isLookPlanned = false;
  #isClosed = false;

  constructor(options: InboxQuestionsOptions) {
    this.#options = options;
  }

  /** Begins to watch. Resolves when the open questions are known. */
  async start(): Promise<void> {
    this.#watch = await this.#options.inbox.watch(() => void this.#lookSoon());
    await this.#lookSoon();
  }

  /** Those that wait, oldest first. */
  open(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** Says which call of this process the question is about. The question may be known already. */
  link(id: string, row: string): void {
    this.#rows.set(id, row);
    const open = this.#open.get(id);
    if (open === undefined) return;
    const question = { ...open.question, call: row };
    this.#open.set(id, { ...open, question });
    this.#options.emit({ type: "question", question });
  }

  /**
   * Answers a question. Resolves when it is known whether a request has used the answer.
   *
   * @throws HostError `not_found`, `usage`
   */
  async answer(id: string, answer: Answer): Promise<AnswerOutcome> {
    const { inbox } = this.#options;
    const open = this.#open.get(id);
    if (open === undefined || answer.kind !== "request") return this.#lateAnswer(id);
    checkAnswer(open.question, answer);
    const { entry } = open;
    const choice = entry.answers.find((each) => each === answer.choice);
    if (choice === undefined) throw unknownQuestion(id);
    const given = await inbox.answer(id, choice, answeredBy, entry, answer.because);
    if (!given.isFirst) return { isFirst: false, text: alreadyText(entry, given) };
    return { isFirst: true, text: await this.#firstText(entry, given) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#looking;
  }

  async #firstText(entry: InboxEntry, given: AnsweredQuestion): Promise<string> {
    const text = `Your answer: ${choiceText(given.answer, entry)}.`;
    if (given.answer === "no") return text;
    switch (await this.#options.inbox.useOf(entry.id, given)) {
      case "used":
        return text;
      case "outdated":
        return "Not run: the tool's definition changed while the request waited. Fairlead asks again if the program repeats the request.";
      case "later":
        return `${text} Not run yet: it runs, once, if the program sends the same request again within ten minutes.`;
    }
  }

  /** The question is not open here any more. */
  async #lateAnswer(id: string): Promise<AnswerOutcome> {
    const given = await this.#options.inbox.answered(id);
    if (given === undefined) throw unknownQuestion(id);
    return { isFirst: false, text: alreadyText({ who: "client", kind: "tool" }, given) };
  }

  #lookSoon(): Promise<void> {
    if (this.#isLookPlanned) return this.#looking;
    this.#isLookPlanned = true;
    this.#looking = this.#looking.then(() => this.#look()).catch(this.#options.fail);
    return this.#looking;
  }

  async #look(): Promise<void> {
    this.#isLookPlanned = false;
    if (this.#isClosed) return;
    const { inbox, emit } = this.#options;
    const entries = await inbox.list();
    const listed = new Set(entries.map(keyOf));
    for (const [id, { entry }] of this.#open) {
      if (listed.has(keyOf(entry))) continue;
      this.#open.delete(id);
      this.#rows.delete(id);
      const given = await inbox.answered(id);
      const text = given && choiceText(given.answer, entry);
      emit({ type: "answered", id, by: given?.by, answer: text });
    }
    for (const entry of entries) {
      const before = this.#open.get(entry.id);
      if (before?.entry.isAwaited === entry.isAwaited) continue;
      const question = { ...toQuestion(entry), call: this.#rows.get(entry.id) };
      this.#open.set(entry.id, { entry, question });
      emit({ type: "question", question });
    }
  }
}

/** An id may be used again for another confirmation. */
function keyOf({ id, key, since }: InboxEntry): string {
  return `${id} ${key} ${since}`;
}

function toQuestion(entry: InboxEntry): Question {
  const { id, since, isAwaited, who, client } = entry;
  return { ...toRequestQuestion(entry, who === "client" ? `the program ${client}` : client), id, since, isAwaited };
}

function alreadyText(
  entry: Pick<InboxEntry, "who" | "kind">,
  { answer, by }: { readonly answer: ConsentAnswer; readonly by: string },
): string {
  return `This question already has an answer, from ${by}: ${choiceText(answer, entry)}.`;
}
