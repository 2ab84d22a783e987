/**
 * Asks a person to confirm a client's request: on a page of the gateway, in a form of the client, or through the inbox.
 * The first answer counts. Without an answer, the request does not run.
 */

import { randomUUID } from "node:crypto";
import { type Clock, sleep, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { explain } from "@fairlead/core/files";
import type { IdentifiedServer } from "@fairlead/core/host";
import {
  type AnswerPlace,
  type ConfirmPort,
  choiceText,
  DeclinedCall,
  mayHaveChanged,
  outcomeOf,
  requestName,
  type ToolCallConfirmationDetails,
} from "@fairlead/core/policy";
import type { AskedClient } from "../gateway-client.ts";
import { ApprovalNeeded, type ConsentAnswer, type ConsentQuestion, toQuestion } from "./confirmed-request.ts";
import { answerIn, formFor, messageFor } from "./consent-form.ts";
import type { InboxOptions } from "./inbox.ts";
import type { AnsweredQuestion } from "./inbox-answers.ts";
import type { GivenAnswer } from "./inbox-folder.ts";
import { repeat } from "./inbox-watchers.ts";
import { type OpenQuestion, OpenQuestions } from "./open-questions.ts";
import type { PageOutcome, QuestionPages } from "./question-pages.ts";

/** Milliseconds to wait for an answer if the client can ask its user. */
const askedTime = 300_000;
/** Milliseconds to wait for an answer in the inbox if the client cannot ask. Many clients give up after 60 seconds. */
const inboxTime = 45_000;
/** A client that answers a form with anything but a yes within this many milliseconds has not shown it to its user. */
const readingTime = 500;
const progressTime = 5000;

/** Asks a person about the requests of clients. */
export interface AsksPerson extends AsyncDisposable {
  /** Returns the function with which the host asks a person about a request of this client. */
  port(client: AskedClient, signal: AbortSignal, identity?: IdentifiedServer): ConfirmPort;
}

interface ConsentOptions extends InboxOptions {
  readonly stateFolder: string;
  /** Shows questions on web pages. Default: clients are asked in forms. */
  readonly pages?: QuestionPages;
  readonly clock?: Clock;
}

/** Asks a person about requests of all clients of a gateway. Dispose it to close its pages and stop watching the inbox. */
export class Consent implements AsksPerson {
  readonly #clock: Clock;
  readonly #questions: OpenQuestions;
  readonly #pages: QuestionPages | undefined;
  readonly #waiting = new Map<OpenQuestion, WaitingQuestion>();

  /**
   * `stateFolder`: the state folder, `~/.fairlead`, which contains the inbox. `now` returns the current time, in
   * milliseconds since 1970.
   */
  constructor({ stateFolder, pages, clock = systemClock, now = Date.now }: ConsentOptions) {
    this.#clock = clock;
    this.#questions = new OpenQuestions(stateFolder, clock, now);
    this.#pages = pages;
  }

  /**
   * Returns the function with which the host asks a person about a request.
   * @param identity Identifies the server's program. Another workspace may have a different server with the same name.
   */
  port(client: AskedClient, signal: AbortSignal, identity?: IdentifiedServer): ConfirmPort {
    return async (confirmation, until) => {
      const details = await confirmation();
      if (details === false) return;
      const waiting = until === undefined ? signal : AbortSignal.any([signal, until]);
      const isAllowed = async (): Promise<boolean> => (await confirmation()) === false;
      const question = toQuestion(client.name, details, identity);
      const answer = await this.#ask(client, question, { details, isAllowed }, waiting);
      await this.#take(details, client, question, answer);
    };
  }

  /**
   * Tells the host the person's answer.
   * @throws HostError `denied` for a no
   */
  async #take(
    details: ToolCallConfirmationDetails,
    client: AskedClient,
    question: ConsentQuestion,
    { answer, answeredIn, because }: PlacedAnswer,
  ): Promise<void> {
    const confirming = details.onConfirm(outcomeOf(answer, question.kind), answeredIn);
    // If the approval cannot be saved, the answer still counts for this conversation.
    await (answer === "always" ? confirming.catch(() => undefined) : confirming);
    if (answer === "no") throw new DeclinedCall(details, because);
    if (answer !== "once") this.#answerOthers(client, question);
  }

  /** After a yes for the whole conversation, other open questions about the same tool need no answer. */
  #answerOthers({ conversation }: AskedClient, { server, kind, name }: ConsentQuestion): void {
    for (const [open, { client, question, isAllowed }] of this.#waiting)
      if (
        client.conversation === conversation &&
        question.server === server &&
        question.kind === kind &&
        question.name === name
      )
        void Promise.allSettled([answerIfAllowed(open, isAllowed)]);
  }

  async #ask(
    client: AskedClient,
    question: ConsentQuestion,
    { details, isAllowed }: { details: ToolCallConfirmationDetails; isAllowed: WaitingQuestion["isAllowed"] },
    signal: AbortSignal,
  ): Promise<PlacedAnswer> {
    const late = await this.#questions.takeLate(question).catch(() => undefined);
    if (late !== undefined) return { answer: late, answeredIn: "grant" };
    const isOutdated = (): boolean => details.isOutdated?.() === true;
    const open = await this.#questions
      .ask(question, isOutdated)
      .catch((error: unknown) => withoutInbox(question, error, this.#questions.folder, details.rule?.doubt));
    const left = new AbortController();
    this.#waiting.set(open, { client, question, isAllowed, isOutdated, left: left.signal });
    try {
      const given = await this.#answerOf(client, question, open, signal).catch(async (error: unknown) => {
        // The client no longer waits for the answer, so the question is withdrawn.
        await open.withdraw().catch(() => {});
        throw notStored(question, error);
      });
      if (given !== undefined) return placed(given);
      if (signal.aborted) {
        await open.withdraw();
        throw new HostError("cancelled", `${requestName(question)} was cancelled before it was sent`, {
          serverName: question.server,
        });
      }
      const last = await open.leave();
      if (last !== undefined) return placed(last);
      throw new ApprovalNeeded(question, open.id);
    } finally {
      this.#waiting.delete(open);
      left.abort();
    }
  }

  /** Waits for the first answer from any place. Returns undefined if none comes in time. */
  async #answerOf(
    client: AskedClient,
    question: ConsentQuestion,
    open: OpenQuestion,
    signal: AbortSignal,
  ): Promise<GivenAnswer | undefined> {
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    const stopProgress = repeat(this.#clock, progressTime, () =>
      client.stillWaiting?.(`${requestName(question)} is waiting for approval`),
    );
    const wait = (milliseconds: number): Promise<void> =>
      sleep(this.#clock, milliseconds, until, { background: true }).catch(() => {});
    const throughClient = async (): Promise<undefined> => {
      const time = wait(askedTime);
      const outcome = await Promise.race([this.#askThrough(client, question, open, until), time]);
      const isInInbox = open.id !== "";
      if (outcome === "not shown" && isInInbox && (await this.#questions.isWatched().catch(() => false)))
        await wait(inboxTime);
      // The user has answered. This wait lets `open.answered` win the race below.
      else if (outcome === "answered") await time;
    };
    try {
      return await Promise.race([open.answered, throughClient()]);
    } finally {
      stopProgress();
      ended.abort();
    }
  }

  /** Asks on a web page if the client opens it, otherwise in a form. */
  async #askThrough(
    client: AskedClient,
    question: ConsentQuestion,
    open: OpenQuestion,
    signal: AbortSignal,
  ): Promise<Asked> {
    const onPage = client.elicitation.url ? await this.#askOnPage(client, question, open, signal) : "not shown";
    if (onPage !== "not shown" || !client.elicitation.form || signal.aborted) return onPage;
    const sent = this.#clock.now();
    const result = await client.elicit(formFor(question), signal).catch(() => undefined);
    if (result === undefined) return "not shown";
    const answer = answerIn(result, question);
    const isYes = answer !== undefined && answer !== "no";
    // A person needs longer than this to read a form: the client has answered by itself. Some send the form's default.
    if (!isYes && this.#clock.now() - sent < readingTime) return "not shown";
    if (answer === undefined) return "dismissed";
    await open.answer(answer, inTheForm);
    return "answered";
  }

  async #askOnPage(
    client: AskedClient,
    question: ConsentQuestion,
    open: OpenQuestion,
    signal: AbortSignal,
  ): Promise<Asked> {
    const waiting = this.#waiting.get(open);
    if (this.#pages === undefined || waiting === undefined) return "not shown";
    const page = await this.#pages
      .open({
        question,
        conversation: client.conversation,
        awaited: waiting.left,
        answered: open.answered,
        answer: async (answer, because) => {
          // Must come first, because a stored answer means that the request no longer waits.
          const isOutdated = answer !== "no" && !waiting.left.aborted && waiting.isOutdated();
          const first = await open.answer(answer, onThePage, because);
          const { outcome, text } = pageOutcome(question, first, answer);
          return { outcome, text: isOutdated ? outdatedText(question) : text };
        },
      })
      .catch(() => undefined);
    if (page === undefined) return "not shown";
    const elicitationId = randomUUID();
    const params = { mode: "url", message: messageFor(question), url: page.url, elicitationId };
    const action = await client.elicit(params, signal).then(
      (result) => result["action"],
      () => "failed",
    );
    // Without a visit, nothing was shown: the client has answered by itself, or its user did not want to open a page.
    if (action !== "accept" && !page.isVisited()) {
      page.close();
      return "not shown";
    }
    // "accept" means that the user opens the URL. The answer itself comes from the page, also if the client has failed.
    if (action === "accept" || action === "failed") {
      await Promise.race([open.answered, aborted(signal)]);
      client.elicited?.(elicitationId);
      return "answered";
    }
    if (action !== "decline") return "dismissed";
    await open.answer("no", inTheForm);
    return "answered";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#questions.close();
    await this.#pages?.[Symbol.asyncDispose]();
  }
}

async function answerIfAllowed(open: OpenQuestion, isAllowed: WaitingQuestion["isAllowed"]): Promise<void> {
  if (await isAllowed()) await open.answer("once", "a yes for the whole conversation");
}

/**
 * What became of a question to the client's user. `dismissed`: the user saw it and did not answer. `not shown`: the user
 * did not see it.
 */
type Asked = "answered" | "dismissed" | "not shown";

interface WaitingQuestion {
  readonly client: AskedClient;
  readonly question: ConsentQuestion;
  /** Whether the request needs no confirmation any more. */
  readonly isAllowed: () => Promise<boolean>;
  /** Whether the tool's definition has changed since the question was asked. */
  readonly isOutdated: () => boolean;
  /** Aborted when the request no longer waits. */
  readonly left: AbortSignal;
}

interface PlacedAnswer extends Pick<GivenAnswer, "answer" | "because"> {
  readonly answeredIn: AnswerPlace;
}

const inTheForm = "a form of the client";

/** The error if the person has answered, but the answer cannot be written to the inbox. */
function notStored(question: ConsentQuestion, cause: unknown): HostError {
  const message = `Not run: the answer about ${requestName(question)} cannot be stored: ${explain(cause)}`;
  return new HostError("internal", message, { serverName: question.server, cause });
}

function placed({ answer, by, because }: GivenAnswer): PlacedAnswer {
  return { answer, because, answeredIn: by === onThePage ? "page" : by === inTheForm ? "form" : "inbox" };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** The value of `GivenAnswer.by` for answers from the page. */
export const onThePage = "the page";

/** Returns the sentence for a yes that came after the tool's definition had changed. */
export function outdatedText(question: ConsentQuestion): string {
  return `The definition of ${requestName(question)} changed while this question was open. Nothing was run, and your answer has no effect. Ask the program to try again: Fairlead then shows you the change and asks again.`;
}

/** Says whether the answer counts. `first`: the answer that counts. */
export function pageOutcome(
  question: ConsentQuestion,
  first: AnsweredQuestion | undefined,
  answer: ConsentAnswer,
): PageOutcome {
  if (first === undefined)
    return {
      outcome: "expired",
      text: "This question has expired: the program no longer waits for an answer. Nothing was run.",
    };
  const counted = choiceText(first.answer, question);
  if (first.isFirst && !first.isAwaited)
    return {
      outcome: "first",
      text: `Your answer: ${counted}. The program no longer waits for it, so nothing was run. If the program sends exactly this request again within ten minutes, ${first.answer === "no" ? "it is refused" : "it runs"}.`,
    };
  if (first.answer !== answer || first.by !== onThePage)
    return { outcome: "late", text: `This question already has an answer, from ${first.by}: ${counted}.` };
  return { outcome: "first", text: `Your answer: ${counted}. You can close this page.` };
}

/**
 * Returns a confirmation that only the client's user can answer.
 *
 * @param error Why the inbox in `folder` cannot be used.
 * @param doubt Why Fairlead cannot tell whether the tool's definition has changed. No rule allows the request then.
 */
export function withoutInbox(question: ConsentQuestion, error: unknown, folder: string, doubt?: string): OpenQuestion {
  let settle: (given: GivenAnswer) => void = () => {};
  let first: GivenAnswer | undefined;
  const answered = new Promise<GivenAnswer>((resolve) => {
    settle = resolve;
  });
  return {
    id: "",
    answered,
    async answer(answer, by, because) {
      const given = { answer, by, at: 0, because };
      first ??= given;
      settle(first);
      return { ...first, isFirst: first === given, isAwaited: true };
    },
    async leave() {
      if (first !== undefined) return first;
      // The inbox is full. Its error already says what to do.
      if (error instanceof HostError && error.code === "denied") throw error;
      const { server: serverName } = question;
      if (doubt !== undefined) throw mayHaveChanged(serverName, requestName(question), doubt);
      const cause = explain(error instanceof HostError ? (error.cause ?? error) : error);
      const why = `the inbox of approvals in ${folder} cannot be written: ${cause}`;
      // Not `policy allow`: no rule allows a tool whose definition has changed.
      const next = `Make ${folder} writable (fairlead doctor checks this), or set FAIRLEAD_HOME to another folder.`;
      throw new HostError("denied", `Not run: ${requestName(question)} needs approval, but ${why}`, {
        serverName,
        next,
      });
    },
    async withdraw() {},
  };
}
