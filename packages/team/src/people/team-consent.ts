/**
 * Asks the people of a team about requests: the user, or an approver whom the rule names. A question is a row, which is
 * answered on a page of any replica, or by an operator. Nothing of it is in this process: the request ends with a link,
 * and the same request, sent again to any replica, uses the answer up.
 */

import { randomUUID } from "node:crypto";
import { HostError } from "@fairlead/core";
import { type Clock, sleep } from "@fairlead/core/clock";
import type { IdentifiedServer } from "@fairlead/core/host";
import { type ConfirmPort, DeclinedCall, outcomeOf, requestName } from "@fairlead/core/policy";
import {
  type ConsentAnswer,
  type ConsentQuestion,
  consentAnswers,
  toQuestion,
} from "@fairlead/gateway/consent/confirmed-request";
import type { AsksPerson } from "@fairlead/gateway/consent/consent";
import type { AskedClient } from "@fairlead/gateway/gateway-client";
import { ApprovalOnPage } from "@fairlead/gateway/questions/approval-request";
import { isObject, parseJson } from "@fairlead/wire/json";
import type { Hints } from "../store/hints.ts";
import type { Owner } from "../store/owner.ts";
import type { QuestionStore, StoredQuestion } from "../store/questions.ts";

/** Milliseconds for which a question and its answer are valid. */
const lifetime = 3_600_000;
/** Milliseconds that a request waits for an answer. Many clients give up after 60 seconds. */
const waitTime = 45_000;
/** A hint can be lost: the row is read again after this many milliseconds. */
const pollTime = 2000;
const progressTime = 5000;
/** The most questions of a user that wait at the same time. */
const mostOpen = 100;

export interface TeamConsentOptions {
  readonly questions: QuestionStore;
  readonly hints: Hints;
  /** The public address of the gateway. */
  readonly url: string;
  readonly clock: Clock;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

export class TeamConsent implements AsksPerson {
  readonly #options: TeamConsentOptions;

  constructor(options: TeamConsentOptions) {
    this.#options = options;
  }

  port(client: AskedClient, signal: AbortSignal, identity?: IdentifiedServer): ConfirmPort {
    return async (confirmation) => {
      const details = await confirmation();
      if (details === false) return;
      const question = toQuestion(client.name, details, identity);
      const given = await this.#answerOf(client, question, signal);
      const confirming = details.onConfirm(outcomeOf(given.answer, question.kind), "page");
      // If the approval cannot be saved, the answer still counts for this request.
      await (given.answer === "always" ? confirming.catch(() => undefined) : confirming);
      if (given.answer === "no") throw new DeclinedCall(details, given.because);
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  /** @throws ApprovalOnPage if there is no answer yet */
  async #answerOf(client: AskedClient, question: ConsentQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { questions, url } = this.#options;
    const owner = ownerOf(client);
    const about = Buffer.from(question.key, "hex");
    const taken = await questions.take(owner, about);
    if (taken !== undefined) return readAnswer(taken);
    const found = await questions.find(owner, about);
    const id = found?.id ?? (await this.#ask(owner, question, about));
    // A client that opens pages sends the request again by itself. Then, and for others, it waits here.
    const isSentAgain = found !== undefined || !client.elicitation.url;
    const late = isSentAgain ? await this.#wait({ owner, about, id }, client, question, signal) : undefined;
    if (late !== undefined) return readAnswer(late);
    if (signal.aborted)
      throw new HostError("cancelled", `${requestName(question)} was cancelled before it was sent`, {
        serverName: question.server,
      });
    throw new ApprovalOnPage(question, `${url}/approvals/${id}`);
  }

  async #ask(owner: Owner, question: ConsentQuestion, argsDigest: Buffer): Promise<string> {
    const { questions, now } = this.#options;
    const open = await questions.open(owner.tenant, owner.principal);
    if (open.length >= mostOpen)
      throw new HostError("busy", `${mostOpen} requests of this user wait for an answer already`, {
        serverName: question.server,
        next: "Answer or withdraw them first.",
      });
    const id = randomUUID();
    const { server, name: tool } = question;
    const asked = JSON.stringify(question);
    await questions.ask({ id, owner, server, tool, argsDigest, asked, until: now() + lifetime });
    return id;
  }

  /** Waits until the question is answered, and takes its answer. Undefined if no answer comes in time. */
  async #wait(
    { owner, about, id }: { readonly owner: Owner; readonly about: Buffer; readonly id: string },
    client: AskedClient,
    question: ConsentQuestion,
    signal: AbortSignal,
  ): Promise<StoredQuestion | undefined> {
    const { questions, hints, clock } = this.#options;
    const end = clock.now() + waitTime;
    let wake: () => void = () => undefined;
    const stop = hints.listen("question", (hint) => {
      if (hint === undefined || hint === id) wake();
    });
    let toldAt = clock.now();
    try {
      while (!signal.aborted && clock.now() < end) {
        const woken = new AbortController();
        wake = () => woken.abort();
        const taken = await questions.take(owner, about);
        if (taken !== undefined) return taken;
        await sleep(clock, pollTime, AbortSignal.any([signal, woken.signal]), { background: true }).catch(
          () => undefined,
        );
        if (clock.now() - toldAt < progressTime) continue;
        toldAt = clock.now();
        client.stillWaiting?.(`${requestName(question)} is waiting for approval`);
      }
      return await questions.take(owner, about);
    } finally {
      stop();
    }
  }
}

/** An answer as it is stored. */
export interface ApprovalAnswer {
  readonly answer: ConsentAnswer;
  readonly because?: string | undefined;
}

/** What a waiting question asks. Undefined if it is no question about a request. */
export function readQuestion({ asked }: Pick<StoredQuestion, "asked">): ConsentQuestion | undefined {
  const value = parseJson(asked);
  // Only this program writes it, encrypted.
  return isObject(value) && Array.isArray(value["answers"]) ? (value as unknown as ConsentQuestion) : undefined;
}

function readAnswer({ answer }: StoredQuestion): ApprovalAnswer {
  const value = answer === undefined ? undefined : parseJson(answer);
  const given = isObject(value) ? consentAnswers.find((each) => each === value["answer"]) : undefined;
  const because = isObject(value) && typeof value["because"] === "string" ? value["because"] : undefined;
  return { answer: given ?? "no", because };
}

function ownerOf({ principal }: AskedClient): Owner {
  if (principal === undefined) throw new HostError("internal", "a request of a team has no user");
  return { tenant: principal.tenant, principal: principal.id };
}
