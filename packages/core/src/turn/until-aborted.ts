/** Waiting that ends when the turn does, whatever it is that is waited for. */

import { HostError } from "../errors.ts";
import { unlessAborted } from "../mcp/unless-aborted.ts";

export function cancelled(): HostError {
  return new HostError("cancelled", "the turn was stopped");
}

/** Rejects with `cancelled` as soon as the signal says so; what becomes of the promise then is nobody's business. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return unlessAborted(promise, signal, cancelled);
}

/** The same for each step of a stream, which is told to end. */
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
    // Not waited for: one that does not heed the signal may never end.
    if (!isOver) steps.return?.().catch(() => undefined);
  }
}
