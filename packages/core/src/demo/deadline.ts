/** When a request must stop: cancelled, silent for too long, too long in all, or the conversation is over. The first cause wins. */

import { type McpRequestOptions, WireError } from "@fairlead/wire";
import type { Clock } from "../clock.ts";

export interface DemoDeadline {
  /** Aborted with a `WireError` that says why. */
  readonly signal: AbortSignal;
  /** Progress was made: the silence starts anew. */
  restart(): void;
  /** The request is done; nothing is left behind. */
  clear(): void;
}

export function startDeadline(options: McpRequestOptions, clock: Clock, over: AbortSignal): DemoDeadline {
  const stop = new AbortController();
  const cancel = (): void => stop.abort(new WireError("cancelled", "the request was cancelled"));
  const end = (): void => stop.abort(over.reason);
  const expireAfter = (milliseconds: number | undefined): (() => void) | undefined =>
    milliseconds === undefined
      ? undefined
      : clock.after(milliseconds, () => stop.abort(new WireError("timeout", `no answer within ${milliseconds} ms`)));

  if (over.aborted) end();
  else if (options.signal?.aborted) cancel();
  over.addEventListener("abort", end, { once: true });
  options.signal?.addEventListener("abort", cancel, { once: true });
  let callOffSilence = expireAfter(options.timeout);
  const callOffTotal = expireAfter(options.total);

  return {
    signal: stop.signal,
    restart() {
      callOffSilence?.();
      callOffSilence = expireAfter(options.timeout);
    },
    clear() {
      callOffSilence?.();
      callOffTotal?.();
      over.removeEventListener("abort", end);
      options.signal?.removeEventListener("abort", cancel);
    },
  };
}
