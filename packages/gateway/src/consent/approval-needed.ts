/** The error for a request that a person must approve first. */

import { HostError } from "@fairlead/core/errors";
import { type ConfirmedRequest, confirmedName } from "./confirmed-request.ts";

/** The request did not run, because no user answered the confirmation in time. `next`: the command that approves it. */
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
