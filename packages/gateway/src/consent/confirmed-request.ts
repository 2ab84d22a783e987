/** A client's request that a person must confirm, and the key that its approval is stored under. */

import { hash } from "node:crypto";
import { HostError } from "@fairlead/core/errors";
import type { IdentifiedServer } from "@fairlead/core/host";
import { canonicalJson } from "@fairlead/core/plain-text";
import {
  type ConfirmationView,
  policySubject,
  requestName,
  type ToolCallConfirmationDetails,
  toConfirmationView,
} from "@fairlead/core/policy";
import { toVisibleLine } from "@fairlead/core/text/safe-text";

/**
 * The answers about a request. `always` is not offered in a client's form, and `server` only about a request of a
 * conversation.
 */
export const consentAnswers = ["no", "once", "conversation", "server", "always"] as const;
export type ConsentAnswer = (typeof consentAnswers)[number];

/**
 * Returns what an answer means if the request no longer waits for it: a yes of any kind allows the next identical
 * request, once. The conversation of the request may have ended, and the next one may belong to another program.
 */
export function lateAnswer(answer: ConsentAnswer): "no" | "once" {
  return answer === "no" ? "no" : "once";
}

/** What a person sees before answering. The texts are not safe to print. */
export interface ConsentQuestion extends ConfirmationView {
  /** The client, or the program with the conversation. */
  readonly client: string;
  readonly answers: readonly ConsentAnswer[];
  /**
   * The key of an approval: a digest of client, server, workspace, name, arguments and change. An approval is valid
   * only for the same key.
   */
  readonly key: string;
}

/** Creates the question about a client's request from the confirmation of the host. */
export function toQuestion(
  client: string,
  details: ToolCallConfirmationDetails,
  { fingerprint, root }: Partial<IdentifiedServer> = {},
): ConsentQuestion {
  const view = toConfirmationView(details, { who: "client", client, folder: root });
  const { server, kind, name, args, change } = view;
  const identified = [client, server, fingerprint ?? null, root ?? null, kind, name, canonicalJson(args)];
  return {
    ...view,
    who: "client",
    client,
    answers: consentAnswers.filter((each) => view.answers.includes(each)),
    key: hash("sha256", canonicalJson([...identified, change ?? null])),
  };
}

type UnansweredQuestion = Pick<ConsentQuestion, "server" | "kind" | "name" | "client" | "reason" | "answers">;

/**
 * The request did not run, because no user answered the confirmation in time. `next`: the command that approves it.
 * Most clients show only the message, and only to their model, so the message has all that a person needs.
 */
export class ApprovalNeeded extends HostError {
  /** The id of the confirmation in the inbox. */
  readonly id: string;

  constructor(question: UnansweredQuestion, id: string) {
    const command = `fairlead approvals allow ${id}`;
    const again = question.kind === "tool" ? "call it again" : "send the request again";
    const approve = `Not run: ${requestName(question)} needs approval. To approve it, run: ${command}, then ${again}.`;
    super("denied", [approve, ...reasonOf(question), ...ruleFor(question)].join(" "), {
      serverName: question.server,
      next: command,
    });
    this.id = id;
  }
}

const longestReason = 300;

function reasonOf({ reason }: UnansweredQuestion): readonly string[] {
  return reason === "" ? [] : [`Fairlead asks because ${toVisibleLine(reason.slice(0, longestReason))}.`];
}

/** The rule that allows the request without asking. No rule does so for a request that cannot be allowed for good. */
function ruleFor({ server, kind, name, client, answers }: UnansweredQuestion): readonly string[] {
  if (!answers.includes("always")) return [];
  const subject = policySubject({ serverName: server, serverToolName: name, kind, client });
  return [`To run it without asking from now on, the user can run: fairlead policy allow ${toVisibleLine(subject)}`];
}
