/** The GET stream of legacy sessions, for messages that belong to no request. Reconnects with growing pauses. */

import { WireError } from "../errors.ts";
import type { ChannelEvents } from "../rpc/channel.ts";
import type { ReadBudget } from "../rpc/read-budget.ts";
import type { TimeSource } from "../rpc/time.ts";
import { errorMessage } from "../shapes/text.ts";
import type { WireLimits } from "../target.ts";
import { createEventReader } from "./event-reader.ts";
import { kindOf } from "./http-answer.ts";
import { discard, type HttpAnswer } from "./http-client.ts";

interface Listening {
  readonly get: (lastEventId: string | undefined, signal: AbortSignal) => Promise<HttpAnswer>;
  readonly expired: (answer: HttpAnswer) => WireError | undefined;
  readonly events: ChannelEvents;
  readonly limits: Pick<WireLimits, "unsolicitedMessageBytes">;
  readonly budget: ReadBudget;
  readonly time?: TimeSource | undefined;
  readonly signal: AbortSignal;
}

const longestPause = 60_000;
const maxFailures = 8;
const temporary: ReadonlySet<string> = new Set(["stream_lost", "unreachable"]);

/**
 * Reads the stream until the signal aborts, the session ends, the server refuses the stream, or `maxFailures` attempts
 * in a row fail. Never rejects.
 */
export async function keepListening(options: Listening): Promise<void> {
  const { get, expired, events, limits, budget, time, signal } = options;
  const reader = createEventReader({ events, maxBytes: limits.unsolicitedMessageBytes, budget, time });
  // `idle`: streams in a row that brought no message. `failures`: connections in a row that failed.
  let idle = 0;
  let failures = 0;
  let wasOpen = false;
  let isFirst = true;
  const over = (): boolean => signal.aborted;
  while (!over() && failures < maxFailures) {
    const before = reader.delivered();
    try {
      const answer = await get(reader.position(), signal);
      // If the stream was open before, a 404 means that the session has expired. Otherwise the server has no such
      // stream.
      if (wasOpen && expired(answer)) return;
      if (answer.status !== 200 || kindOf(answer) !== "events") {
        discard(answer.body);
        // 405 means "no such stream" in the protocol. Some servers answer 404 or 400 instead.
        if (answer.status >= 400 && answer.status < 500 && answer.status !== 408 && answer.status !== 429) return;
        throw new WireError("http_status", `the GET stream answered with HTTP status ${answer.status}`);
      }
      // The connection worked. `idle` is reset only after a message.
      failures = 0;
      wasOpen = true;
      if (!isFirst) events.reopened?.();
      await reader.read(answer.body, 0);
    } catch (error) {
      if (over()) return;
      if (error instanceof WireError && error.code === "unauthorized") return;
      // A server that cannot be reached may come back, so this is not counted as a failure.
      if (!(error instanceof WireError) || !temporary.has(error.code)) failures += 1;
      events.diagnostic(`the GET stream broke off: ${errorMessage(error)}`);
    } finally {
      if (!over()) events.streamEnded?.();
    }
    isFirst = false;
    idle = reader.delivered() === before ? idle + 1 : 0;
    // The first pause is the server's `retry` time. Streams without messages make the pauses longer, up to one minute.
    const slower = idle <= 1 ? 0 : Math.min(longestPause, 500 * 2 ** idle);
    await reader.pause(signal, { atLeast: slower }).catch(() => undefined);
  }
}
