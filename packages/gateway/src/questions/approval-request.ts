/** Asks the user of a team to open the page on which the user, or an approver, answers whether a request may run. */

import { HostError } from "@fairlead/core/errors";
import { requestName } from "@fairlead/core/policy";
import type { JsonObject } from "@fairlead/wire";
import { isObject, member } from "@fairlead/wire/json";
import type { ConsentQuestion } from "../consent/confirmed-request.ts";
import type { ClientCall } from "./client-call.ts";
import { askToOpen } from "./open-page.ts";

/** The request did not run: a person has to answer a question on a page first. Then the same request runs. */
export class ApprovalOnPage extends HostError {
  readonly link: string;
  /** The group of which a member answers. Absent: the user answers. */
  readonly approver: string | undefined;

  constructor(question: ConsentQuestion, link: string) {
    const who = question.approver === undefined ? "you" : `a member of the group ${question.approver}`;
    super("denied", `Not run: ${requestName(question)} needs approval by ${who}`, {
      serverName: question.server,
      next: `Open ${link}, then send the request again.`,
    });
    this.link = link;
    this.approver = question.approver;
  }
}

/** The key of the gateway's own question in `inputRequests`. */
const questionKey = "fairlead_approval";

/** Returns the result that shows the page to the client's user. Throws the JSON-RPC error that does, for other clients. */
export function askForApproval(call: ClientCall, method: string, needed: ApprovalOnPage): JsonObject {
  const { message, link, approver, serverName: server = "" } = needed;
  const who = approver === undefined ? "open the address and answer" : "give the address to an approver";
  return askToOpen(call, method, {
    key: questionKey,
    link,
    words: `${message}: ${who}, then the request can be sent again`,
    forModel: `${message}. Ask the user to ${who}, then call again`,
    reason: "needs_approval",
    server,
  });
}

/** What the client says about the gateway's question: whether its user agreed to open the page. Undefined: nothing. */
export function approvalAnswer(inputResponses: unknown): "agreed" | "refused" | undefined {
  if (!isObject(inputResponses) || !Object.hasOwn(inputResponses, questionKey)) return undefined;
  return member(member(inputResponses, questionKey), "action") === "accept" ? "agreed" : "refused";
}
