/** Limits how many requests one client can have open at one server; further requests wait in a queue. */

import { rpcCodes, rpcError } from "./rpc-error.ts";

export interface FairTurns {
  /**
   * Waits until the request may be sent. Returns the function that frees its place.
   *
   * @throws WireError if too many requests wait, or if the request is cancelled
   */
  enter(client: string, server: string, signal: AbortSignal): Promise<() => void>;
}

const mostOpen = 16;
const mostWaiting = 256;

export function createFairTurns(): FairTurns {
  const places = new Map<string, { open: number; readonly waiting: (() => void)[] }>();

  return {
    async enter(client, server, signal) {
      const key = JSON.stringify([client, server]);
      const place = places.get(key) ?? { open: 0, waiting: [] };
      places.set(key, place);
      if (place.open < mostOpen) place.open += 1;
      else {
        if (place.waiting.length >= mostWaiting)
          throw rpcError(rpcCodes.internal, `${mostWaiting} requests to "${server}" wait already`, { reason: "busy" });
        await new Promise<void>((resolve, reject) => {
          const next = (): void => {
            signal.removeEventListener("abort", giveUp);
            resolve();
          };
          const giveUp = (): void => {
            place.waiting.splice(place.waiting.indexOf(next), 1);
            reject(rpcError(rpcCodes.internal, "the request was cancelled before it was sent"));
          };
          if (signal.aborted)
            return reject(rpcError(rpcCodes.internal, "the request was cancelled before it was sent"));
          place.waiting.push(next);
          signal.addEventListener("abort", giveUp, { once: true });
        });
      }
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        // The next waiting request takes over the place, so that no later request overtakes it.
        const next = place.waiting.shift();
        if (next !== undefined) return next();
        place.open -= 1;
        if (place.open === 0) places.delete(key);
      };
    },
  };
}
