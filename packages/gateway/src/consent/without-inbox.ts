/** Confirmations that are not stored in the inbox, for example because the disk is full. */

import { HostError } from "@fairlead/core/errors";
import { policySubject } from "@fairlead/core/policy/refusal";
import { mayHaveChanged } from "@fairlead/core/registry/confirmation";
import { errorMessage } from "@fairlead/wire/text";
import { type ConsentQuestion, confirmedName } from "./confirmed-request.ts";
import type { GivenAnswer } from "./inbox-folder.ts";
import type { OpenQuestion } from "./open-questions.ts";

/**
 * Returns a confirmation that only the client's user can answer.
 *
 * @param error Why the inbox cannot be used.
 * @param doubt Why Fairlead cannot tell whether the tool's definition has changed. No rule allows the request then.
 */
export function withoutInbox(question: ConsentQuestion, error: unknown, doubt?: string): OpenQuestion {
  let settle: (given: GivenAnswer) => void = () => {};
  let first: GivenAnswer | undefined;
  const answered = new Promise<GivenAnswer>((resolve) => {
    settle = resolve;
  });
  return {
    id: "",
    answered,
    async answer(answer, by) {
      const given = { answer, by, at: 0 };
      first ??= given;
      settle(first);
      return { ...first, isFirst: first === given, isAwaited: true };
    },
    async leave() {
      if (first !== undefined) return first;
      // The inbox is full. Its error already says what to do.
      if (error instanceof HostError && error.code === "denied") throw error;
      const { server, kind, name } = question;
      if (doubt !== undefined) throw mayHaveChanged(server, confirmedName(question), doubt);
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
