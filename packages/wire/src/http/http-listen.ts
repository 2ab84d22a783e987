/** The GET stream of the older eras: messages that answer no request. It comes back when it ends, more slowly the less it brings. */

import { WireError } from "../errors.ts";
import type { ChannelEvents } from "../rpc/channel.ts";
import type { TimeSource } from "../rpc/time-source.ts";
import { errorMessage } from "../shapes/text.ts";
import type { WireLimits } from "../target.ts";
import { createEventReader } from "./event-reader.ts";
import { kindOf } from "./http-answer.ts";
import { discard, type HttpAnswer } from "./http-client.ts";

interface Listening {
  readonly get: (lastEventId: string | undefined, signal: AbortSignal) => Promise<HttpAnswer>;
  readonly expired: (answer: HttpAnswer) => WireError | undefined;
  readonly events: ChannelEvents;
  readonly limits: WireLimits;
  readonly time?: TimeSource | undefined;
  readonly signal: AbortSignal;
}

const longestPause = 60_000;
const mostFailures = 8;
const passing: ReadonlySet<string> = new Set(["stream_lost", "unreachable"]);

/** Listens until the signal, the end of the session, or a server that has no such stream. Never rejects. */
export async function keepListening({ get, expired, events, limits, time, signal }: Listening): Promise<void> {
  const reader = createEventReader({ events, limits, time });
  // Streams in a row that brought nothing, and those that failed.
  let idle = 0;
  let failures = 0;
  let wasOpen = false;
  const over = (): boolean => signal.aborted;
  while (!over() && failures < mostFailures) {
    const before = reader.delivered();
    try {
      const answer = await get(reader.position(), signal);
      // A server that never had such a stream means that by 404, not the session.
      if (wasOpen && expired(answer)) return;
      if (answer.status !== 200 || kindOf(answer) !== "events") {
        discard(answer.body);
        // 405 is the protocol's way to say "no such stream"; several servers say it with 404 or 400.
        if (answer.status >= 400 && answer.status < 500 && answer.status !== 408 && answer.status !== 429) return;
        throw new WireError("http_status", `the stream of messages answered ${answer.status}`);
      }
      // Whoever opens the stream is well; if it only opens it to cut it, the pauses grow all the same.
      failures = 0;
      wasOpen = true;
      await reader.read(answer.body, 0);
    } catch (error) {
      if (over()) return;
      if (error instanceof WireError && error.code === "unauthorized") return;
      // Who cannot be reached may be back later, and that is what the stream is for.
      if (!(error instanceof WireError) || !passing.has(error.code)) failures += 1;
      events.diagnostic(`the stream of messages broke: ${errorMessage(error)}`);
    }
    idle = reader.delivered() === before ? idle + 1 : 0;
    // The first return is as the server wishes; one that keeps closing an empty stream is visited less and less.
    const slower = idle <= 1 ? 0 : Math.min(longestPause, 500 * 2 ** idle);
    await reader.pause(signal, { atLeast: slower }).catch(() => undefined);
  }
}
