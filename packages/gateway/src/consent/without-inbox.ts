/** Confirmations that are not stored in the inbox, for example because the disk is full. */

import { HostError } from "@fairlead/core/errors";
import { policySubject } from "@fairlead/core/policy/refusal";
import { errorMessage } from "@fairlead/wire/text";
import { type ConsentQuestion, confirmedName } from "./confirmed-request.ts";
import type { GivenAnswer } from "./inbox-folder.ts";
import type { OpenQuestion } from "./open-questions.ts";

/** Returns a confirmation that only the client's user can answer. `error`: why the inbox cannot be used. */
export function withoutInbox(question: ConsentQuestion, error: unknown): OpenQuestion {
  let settle: (given: GivenAnswer) => void = () => {};
  let first: GivenAnswer | undefined;
  const answered = new Promise<GivenAnswer>((resolve) => {
    settle = resolve;
  });
  return {
    id: "",
    answered,
    async answer(answer, by) {
      first ??= { answer, by, at: 0 };
      settle(first);
      return first;
    },
    async leave() {
      if (first !== undefined) return first;
      // The inbox is full. Its error already says what to do.
      if (error instanceof HostError && error.code === "denied") throw error;
      const { server, kind, name } = question;
      const cause = errorMessage(error);
      throw new HostError(
        "denied",
        `Not run: ${confirmedName(question)} needs approval, but Fairlead cannot write to the inbox of approvals: ${cause}`,
        {
          serverName: server,
          next: `fairlead policy allow ${policySubject({ serverName: server, serverToolName: name, kind })}`,
        },
      );
    },
    async withdraw() {},
  };
}
