/** Waits for promises and streams until a signal is aborted. */

import { HostError } from "../errors.ts";
import { unlessAborted } from "../unless-aborted.ts";

/** Creates the error `cancelled` for a turn that was stopped. */
export function cancelled(): HostError {
  return new HostError("cancelled", "the turn was stopped");
}

/** Waits for a promise. Rejects with `cancelled` when the signal is aborted; the promise's later result is ignored. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return unlessAborted(promise, signal, cancelled);
}

/** Like `untilAborted`, but for each step of a stream. When the signal is aborted, asks the stream to end. */
export async function* streamUntilAborted<T>(
  stream: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const steps = stream[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const step = await untilAborted(steps.next(), signal);
      if (step.done === true) {
        isOver = true;
        return;
      }
      yield step.value;
    }
  } finally {
    // Does not wait for the stream's end, because a stream that ignores the signal may never end.
    if (!isOver) steps.return?.().catch(() => undefined);
  }
}
