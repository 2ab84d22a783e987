/**
 * The pages of single questions, which the gateway opens for clients' requests. Each is the console's page for this question
 * alone; no console need be open.
 */

import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { choiceText } from "@fairlead/core/policy";
import { questionTime } from "@fairlead/gateway/consent/inbox-folder";
import type { OpenPage, PageOutcome, PageQuestion, QuestionPages } from "@fairlead/gateway/consent/question-pages";
import type { Snapshot } from "../../protocol/events.ts";
import type { QuestionCommands } from "../../protocol/questions.ts";
import type { Answer, Question } from "../../protocol/rows.ts";
import type { ConsoleSource, RunOptions } from "../console-source.ts";
import { aText, type Handlers, runCommand } from "../state/parameters.ts";
import { anAnswer } from "../state/question-commands.ts";
import { checkAnswer, toRequestQuestion, unknownQuestion } from "../state/questions.ts";
import { EventRing } from "./event-ring.ts";
import type { PageFiles } from "./page-files.ts";
import { type OpenPage as ListenerPage, PageListener } from "./page-listener.ts";

/** Maximum number of pages for which requests of one connection of a client wait. */
const mostAwaited = 32;
/** Milliseconds for which an answered page stays, so that it can ask again for the response to its answer. */
const answeredTime = 5000;
/** Maximum number of pages for which no request waits. One more closes the oldest of them. */
const mostLeft = 64;

export interface QuestionPagesOptions {
  /** Reads the files of the page. Called for the first question. */
  readonly readFiles: () => PageFiles;
  /** Fairlead's version. */
  readonly version: string;
  readonly clock?: Pick<Clock, "after">;
  /** The current time, in milliseconds since 1970. */
  readonly now?: () => number;
}

interface Page extends PageQuestion {
  readonly listed: ListenerPage;
  /** Calls off the end of the page. */
  callOff: () => void;
}

/** Serves one page for each open confirmation. Starts to listen when the first page is opened. */
export class QuestionPageServer implements QuestionPages {
  readonly #options: QuestionPagesOptions;
  readonly #clock: Pick<Clock, "after">;
  readonly #now: () => number;
  readonly #pages = new Map<string, Page>();
  #listening: Promise<PageListener> | undefined;

  constructor(options: QuestionPagesOptions) {
    const { clock = systemClock, now = Date.now } = options;
    this.#options = options;
    this.#clock = clock;
    this.#now = now;
  }

  async open(shown: PageQuestion): Promise<OpenPage> {
    this.#listening ??= this.#listen();
    const listener = await this.#listening.catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    this.#makeRoom(shown.conversation);
    const id = randomBytes(16).toString("base64url");
    const since = this.#now();
    const { question } = shown;
    const row: Question = {
      ...toRequestQuestion(question, `the program ${question.client}`),
      id,
      since,
      deadline: since + questionTime,
    };
    const ring = new EventRing();
    const source = new QuestionSource(row, shown, {
      version: this.#options.version,
      now: this.#now,
      onAnswered: () => {
        page.callOff();
        page.callOff = this.#clock.after(answeredTime, () => this.#end(id), { background: true });
      },
    });
    const listed = listener.open({ kind: "question", path: `/question/${id}`, source, ring });
    const callOff = this.#clock.after(questionTime, () => this.#end(id), { background: true });
    const page: Page = { ...shown, listed, callOff };
    this.#pages.set(id, page);
    void shown.answered.then(({ answer, by }) => {
      source.isOver = true;
      ring.add({ type: "answered", id, by, answer: choiceText(answer, question) });
    });
    const leave = (): void => {
      // The request of an answered question no longer waits, either.
      if (!source.isOver) ring.add({ type: "question", question: source.row() });
    };
    shown.awaited.addEventListener("abort", leave, { once: true });
    return { url: listed.newAddress(questionTime), isVisited: () => listed.isVisited(), close: () => this.#end(id) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#pages.keys()) this.#end(id);
    const listener = await this.#listening?.catch(() => undefined);
    await listener?.close();
  }

  #listen(): Promise<PageListener> {
    const files = this.#options.readFiles();
    return PageListener.listen({ files, clock: this.#clock, port: 0, isBackground: true });
  }

  #end(id: string): void {
    const page = this.#pages.get(id);
    this.#pages.delete(id);
    page?.callOff();
    page?.listed.close();
  }

  #makeRoom(conversation: string): void {
    const isOwn = (page: Page): boolean => page.conversation === conversation && !page.awaited.aborted;
    if ([...this.#pages.values()].filter(isOwn).length >= mostAwaited)
      throw new Error(`${mostAwaited} pages of this client are already open`);
    const left = [...this.#pages].filter(([, page]) => page.awaited.aborted);
    for (const [id] of left.slice(0, -mostLeft)) this.#end(id);
  }
}

interface SourceOptions {
  readonly version: string;
  readonly now: () => number;
  /** Called when the page's answer is stored, or could not be. */
  readonly onAnswered: () => void;
}

/** One question, as the source of a page. */
class QuestionSource implements Pick<ConsoleSource, "snapshot" | "run"> {
  readonly #row: Question & { readonly kind: "request" };
  readonly #shown: PageQuestion;
  readonly #options: SourceOptions;
  #hasAnswered = false;
  /** Whether the question has its answer. */
  isOver = false;
  readonly #handlers: Handlers<QuestionCommands>;

  constructor(row: Question & { readonly kind: "request" }, shown: PageQuestion, options: SourceOptions) {
    this.#row = row;
    this.#shown = shown;
    this.#options = options;
    this.#handlers = {
      "questions/answer": { takes: { id: aText, answer: anAnswer }, run: ({ id, answer }) => this.#answer(id, answer) },
    };
  }

  row(): Question {
    return { ...this.#row, isAwaited: !this.#shown.awaited.aborted };
  }

  async snapshot(): Promise<Snapshot> {
    const { version, now } = this.#options;
    const workspace = { root: this.#shown.question.folder ?? "", isTrusted: true, why: "" };
    const questions = this.isOver ? [] : [this.row()];
    return { version, now: now(), workspace, servers: [], questions, calls: [], problems: [] };
  }

  async run(verb: string, params: Readonly<Record<string, unknown>>, options: RunOptions): Promise<never> {
    if (verb !== "questions/answer") throw new HostError("usage", "this page answers one question");
    return (await runCommand(verb, this.#handlers[verb], params as never, options)) as never;
  }

  async #answer(id: string, answer: Answer): Promise<{ readonly isFirst: boolean; readonly text: string }> {
    if (id !== this.#row.id || this.#hasAnswered) throw unknownQuestion(id);
    checkAnswer(this.#row, answer);
    const { question } = this.#shown;
    const choice = answer.kind === "request" ? question.answers.find((each) => each === answer.choice) : undefined;
    if (choice === undefined) throw new HostError("usage", "the answer is not one of those that the question offers");
    // Only one answer is possible, also while it is stored.
    this.#hasAnswered = true;
    this.isOver = true;
    const because = answer.kind === "request" ? answer.because : undefined;
    const { outcome, text }: PageOutcome = await this.#shown.answer(choice, because).finally(this.#options.onAnswered);
    if (outcome === "expired") throw new HostError("not_found", text);
    return { isFirst: outcome === "first", text };
  }
}
