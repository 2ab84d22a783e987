/**
 * Sends a request that only reads, such as `resources/read`. If the connection is lost or the server is busy, repeats
 * it once.
 */

import { type Clock, sleep } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import { HostError } from "../errors.ts";

/** The signal and the time limits of one read. */
export interface ReadTimes {
  readonly signal: AbortSignal;
  /**
   * The longest time without a response or progress, in milliseconds. If a busy server asks for a longer pause, the
   * request fails.
   */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
}

interface ReadPorts<Client> {
  /** Connects the server again if its connection is lost. */
  readonly reconnect: (signal: AbortSignal) => Promise<Client>;
  /** Whether the server and the requested resource or prompt have not changed since the request was allowed. */
  readonly isStill: (client: Client) => boolean;
  readonly clock: Clock;
}

/**
 * Sends the request. Repeats it once after a lost connection, or after the pause that a busy server (HTTP 429 or 503)
 * asks for.
 */
export async function sendRead<Client, T>(
  client: Client,
  send: (client: Client, times: ReadTimes) => Promise<T>,
  times: ReadTimes,
  { reconnect, isStill, clock }: ReadPorts<Client>,
): Promise<T> {
  const began = clock.now();
  const left = (): number => times.total - (clock.now() - began);
  try {
    return await send(client, times);
  } catch (error) {
    if (!(error instanceof HostError) || times.signal.aborted) throw error;
    const pause = pauseAfter(error);
    if (pause === undefined ? !isLost(error) : pause >= Math.min(times.timeout, left())) throw error;
    if (pause !== undefined)
      await sleep(clock, pause, times.signal).catch(() => {
        throw new HostError("cancelled", `${error.message}; the request was cancelled before it was sent again`, {
          cause: error,
        });
      });
    const next = await reconnect(times.signal).catch(() => {
      throw error;
    });
    // If the server, resource or prompt has changed, the decision that allowed the request no longer applies.
    if (!isStill(next)) throw error;
    return send(next, { ...times, total: Math.max(left(), 1) });
  }
}

function isLost(error: HostError): boolean {
  return (
    error.code === "lost" || (neverLeft(error) && (error.code === "unreachable" || error.code === "server_exited"))
  );
}
