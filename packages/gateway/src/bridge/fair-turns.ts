/** Limits how many requests of one client can be open at one server. Further requests wait in a queue. */

import type { WireError } from "@fairlead/wire";
import type { ClientCall } from "../questions/client-call.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

export interface FairTurns {
  /**
   * Waits until the request may be sent. Returns the function that the caller must call when the request has ended. If
   * the request must wait, returns a promise of this function.
   *
   * @throws WireError if too many requests wait, or if the request is cancelled
   */
  enter(client: string, server: string, call: Pick<ClientCall, "signal">): (() => void) | Promise<() => void>;
}

const mostOpen = 16;
const mostWaiting = 256;

export function createFairTurns(): FairTurns {
  const places = new Map<string, Place>();

  return {
    enter(client, server, call) {
      const key = `${client.length} ${client} ${server}`;
      const place = places.get(key) ?? { open: 0, waiting: [] };
      places.set(key, place);
      if (place.open >= mostOpen) return turn(place.waiting, server, call.signal).then(() => leaving(key, place));
      place.open += 1;
      return leaving(key, place);
    },
  };

  function leaving(key: string, place: Place): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      // The next waiting request is sent now, so that no later request overtakes it.
      const next = place.waiting.shift();
      if (next !== undefined) return next();
      place.open -= 1;
      if (place.open === 0) places.delete(key);
    };
  }
}

interface Place {
  open: number;
  readonly waiting: (() => void)[];
}

async function turn(waiting: Place["waiting"], server: string, signal: AbortSignal): Promise<void> {
  if (waiting.length >= mostWaiting)
    throw rpcError(
      rpcCodes.internal,
      `too many requests: ${mostWaiting} requests of this client to "${server}" already wait`,
      { reason: "busy" },
    );
  if (signal.aborted) throw cancelled();
  await new Promise<void>((resolve, reject) => {
    const next = (): void => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = (): void => {
      waiting.splice(waiting.indexOf(next), 1);
      reject(cancelled());
    };
    waiting.push(next);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

function cancelled(): WireError {
  return rpcError(rpcCodes.internal, "the request was cancelled before it was sent");
}
