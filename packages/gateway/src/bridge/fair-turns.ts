/** Lets each client have a limited number of open requests at each server; further ones wait for their turn. */

import { rpcCodes, rpcError } from "./rpc-error.ts";

export interface FairTurns {
  /** Waits for a turn. Returns the function that ends it. @throws WireError if too many requests wait, or it is cancelled */
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
        // The turn goes to the next one, so that no later request gets before it.
        const next = place.waiting.shift();
        if (next !== undefined) return next();
        place.open -= 1;
        if (place.open === 0) places.delete(key);
      };
    },
  };
}
