/** Asks the user for confirmation during a turn, one question at a time. */

import { errorMessage } from "@fairlead/wire/text";
import {
  applyAnswer,
  type ToolCallConfirmationDetails,
  type ToolConfirmationOutcome,
} from "../registry/confirmation.ts";
import type { TurnEvent } from "./events.ts";
import type { TurnHost, TurnQuestion } from "./turn-host.ts";
import { untilAborted } from "./until-aborted.ts";

/** The call to confirm, and where its events go. */
export interface ConfirmCallOptions {
  /** The id of the call to confirm. */
  readonly id: string;
  readonly emit: (event: TurnEvent) => void;
  /** Whether the user may change the arguments. */
  readonly canEdit: boolean;
  /** Called when the question is shown. */
  readonly onConfirmation: (details: ToolCallConfirmationDetails) => void;
}

/**
 * Asks the user for confirmation, if a rule requires it.
 *
 * @throws HostError `denied` if the user declines
 */
export type ConfirmCall = (question: TurnQuestion, options: ConfirmCallOptions) => Promise<void>;

/** Creates the function that asks for confirmation. If a host has no `confirm`, it emits a `confirmation` event. */
export function createConfirmCall({ confirm }: Pick<TurnHost, "confirm">, signal: AbortSignal): ConfirmCall {
  let last: Promise<unknown> = Promise.resolve();

  async function ask(question: TurnQuestion, options: ConfirmCallOptions): Promise<void> {
    // False if the answer to an earlier question already allows this call.
    const asked = await question();
    if (asked === false) return;
    const details = options.canEdit ? { ...asked, canEdit: true } : asked;
    options.onConfirmation(details);
    const answer = await untilAborted(confirm ? confirm(details, signal) : told(asked, options), signal);
    // If the answer cannot be saved, it is still valid for this turn.
    await applyAnswer(details, answer, (error) =>
      options.emit({ type: "note", message: `the approval could not be saved: ${errorMessage(error)}` }),
    );
  }

  return async (question, options) => {
    if ((await untilAborted(question(), signal)) === false) return;
    const before = last;
    const asked = before.then(() => {
      signal.throwIfAborted();
      return ask(question, options);
    });
    last = asked.catch(() => undefined);
    await untilAborted(asked, signal);
  };
}

/** Emits the question and waits for its answer. An answer after the end of the turn is ignored. */
function told(
  details: ToolCallConfirmationDetails,
  { id, emit }: Pick<ConfirmCallOptions, "id" | "emit">,
): Promise<ToolConfirmationOutcome> {
  return new Promise((resolve) => {
    const onConfirm = async (outcome: ToolConfirmationOutcome): Promise<void> => resolve(outcome);
    emit({ type: "confirmation", id, details: { ...details, onConfirm } });
  });
}
