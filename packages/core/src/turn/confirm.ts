/** Asking the person in the middle of a turn: one question at a time, and an answer counts only while the turn goes on. */

import { errorMessage } from "@fairlead/wire/text";
import {
  declined,
  isYes,
  type ToolCallConfirmationDetails,
  type ToolConfirmationOutcome,
} from "../registry/confirmation.ts";
import type { TurnEvent } from "./events.ts";
import type { Question, TurnHost } from "./turn-host.ts";
import { untilAborted } from "./until-aborted.ts";

export interface AskOptions {
  /** Of the call. */
  readonly id: string;
  readonly emit: (event: TurnEvent) => void;
  /** Told when the person is really asked. */
  readonly onAsking: (details: ToolCallConfirmationDetails) => void;
}

/** Rejects with `denied` if they say no. */
export type AskPerson = (question: Question, options: AskOptions) => Promise<void>;

export function createAskPerson({ confirm }: Pick<TurnHost, "confirm">, signal: AbortSignal): AskPerson {
  let last: Promise<unknown> = Promise.resolve();

  async function ask(question: Question, options: AskOptions): Promise<void> {
    // An answer to the question before may have answered this one too.
    const details = await question();
    if (details === false) return;
    options.onAsking(details);
    const outcome = await untilAborted(confirm ? confirm(details, signal) : told(details, options), signal);
    await details.onConfirm(outcome).catch((error: unknown) => {
      // What was said counts all the same; it may only not be there the next time.
      const why = errorMessage(error);
      options.emit({ type: "note", message: `the answer could not be kept: ${why}` });
    });
    if (!isYes(outcome)) throw declined(details);
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

/** What is answered after the turn has ended is no answer: nobody would know what it was for. */
function told(
  details: ToolCallConfirmationDetails,
  { id, emit }: Pick<AskOptions, "id" | "emit">,
): Promise<ToolConfirmationOutcome> {
  return new Promise((resolve) => {
    const onConfirm = async (outcome: ToolConfirmationOutcome): Promise<void> => resolve(outcome);
    emit({ type: "confirmation", id, details: { ...details, onConfirm } });
  });
}
