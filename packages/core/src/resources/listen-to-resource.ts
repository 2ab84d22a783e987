/** Listens to changes of one resource on one connection with a modern server, and reopens the stream if it breaks. */

import { type Clock, sleep } from "../clock.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { backoffPause } from "../mcp/recovery/backoff.ts";

/** Options of `listenToResource`. */
export interface ListenOptions {
  readonly uri: string;
  readonly request: McpClient["request"];
  /** Called when the stream is open again: changes in between may have been missed. */
  readonly onMissed: () => void;
  /** Ends the listening. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: () => number;
}

/** In milliseconds. A stream that lasted this long does not count as an early end. */
const steady = 60_000;
/** After this many early ends in a row the listening stops: the server does not support it. */
const mostEnds = 8;
const method = "subscriptions/listen";

/** Listens until the signal is aborted. Never rejects. */
export async function listenToResource({
  uri,
  request,
  onMissed,
  signal,
  clock,
  random,
}: ListenOptions): Promise<void> {
  const params = { notifications: { resourceSubscriptions: [uri] } };
  for (let ends = 0; ends < mostEnds && !signal.aborted; ends += 1) {
    const begin = clock.now();
    const listening = request(method, method, params, { signal });
    if (ends > 0) onMissed();
    const isOver = await listening.then(() => false, isForGood);
    if (isOver) return;
    if (clock.now() - begin >= steady) ends = 0;
    // Only the signal interrupts the sleep, and it ends the loop.
    await sleep(clock, backoffPause(ends, random), signal, { background: true }).catch(() => {});
  }
}

function isForGood(error: unknown): boolean {
  return !(error instanceof HostError) || retryClassOf(error, { isProgram: false }).kind !== "outage";
}
