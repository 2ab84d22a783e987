import { HostError } from "../errors.ts";
import { unlessAborted } from "../mcp/unless-aborted.ts";

/** Creates the error of a stopped turn. */
export function cancelled(): HostError {
  return new HostError("cancelled", "the turn was stopped");
}

/** Rejects with `cancelled` when the signal is aborted. The promise's later result is ignored. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return unlessAborted(promise, signal, cancelled);
}

/** Like `untilAborted`, for each step of a stream; asks the stream to end. */
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
    // Not awaited: a stream that ignores the signal may never end.
    if (!isOver) steps.return?.().catch(() => undefined);
  }
}
