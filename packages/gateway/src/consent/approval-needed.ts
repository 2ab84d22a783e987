/** The error for a request that a person must approve first. */

import { HostError } from "@fairlead/core/errors";
import { policySubject } from "@fairlead/core/policy/refusal";
import { toVisibleLine } from "@fairlead/core/text";
import { type ConsentQuestion, confirmedName } from "./confirmed-request.ts";

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
    const approve = `Not run: ${confirmedName(question)} needs approval. To approve it, run: ${command}, then ${again}.`;
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
