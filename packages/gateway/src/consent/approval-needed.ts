/** The error for a request that needs a person's approval. The person can approve the request later. */

import { HostError } from "@fairlead/core/errors";
import { type ConfirmedRequest, confirmedName } from "./confirmed-request.ts";

/**
 * The error for a request that was not run because no person has answered the confirmation. `next` is the command that
 * approves the request.
 */
export class ApprovalNeeded extends HostError {
  /** The id of the confirmation in the inbox. */
  readonly id: string;

  constructor(request: ConfirmedRequest, id: string) {
    const command = `fairlead approvals allow ${id}`;
    const again = request.kind === "tool" ? "call it again" : "send the request again";
    super(
      "denied",
      `Not run: ${confirmedName(request)} needs approval. To approve it, run: ${command}, then ${again}.`,
      {
        serverName: request.server,
        next: command,
      },
    );
    this.id = id;
  }
}
