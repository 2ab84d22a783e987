/** Keeps a server of the modern era telling when one resource changes, on one connection: a stream that breaks is opened again. */

import { type Clock, sleep } from "../clock.ts";
import { healingOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { backoffPause } from "../mcp/recovery/backoff.ts";

export interface ListenOptions {
  readonly uri: string;
  readonly request: McpClient["request"];
  /** It is open again: whatever changed meanwhile was not told. */
  readonly onMissed: () => void;
  /** Until then it is kept open. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Who kept it open that long, in milliseconds, meant it. */
const steady = 60_000;
/** A server that ends it sooner so often in a row does not want to tell. */
const mostEnds = 8;
const method = "subscriptions/listen";

/** Never rejects. */
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
    // What ends the sleep is the signal, and then there is nothing more to do.
    await sleep(clock, backoffPause(ends, random), signal, { background: true }).catch(() => {});
  }
}

function isForGood(error: unknown): boolean {
  return !(error instanceof HostError) || healingOf(error, { isProgram: false }).kind !== "outage";
}
