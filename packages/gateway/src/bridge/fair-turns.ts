/** Limits a client to 16 open requests at one server. Further requests wait, so that other clients get their turn. */

import type { WireError } from "@fairlead/wire";
import type { ClientCall } from "../questions/client-call.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

/** Lets requests wait until their client has few enough open requests at the server. */
export interface FairTurns {
  /**
   * Waits until the request may be sent. Call the returned function when the request has ended. Returns a promise only
   * if the request must wait.
   *
   * @throws WireError if 256 requests already wait, or if the request is cancelled
   */
  enter(client: string, server: string, call: Pick<ClientCall, "signal">): (() => void) | Promise<() => void>;
}

const mostOpen = 16;
const mostWaiting = 256;

/** Creates the queues, one for each client and server. */
export function createFairTurns(): FairTurns {
  const queues = new Map<string, Queue>();

  return {
    enter(client, server, call) {
      const key = `${client.length} ${client} ${server}`;
      const queue = queues.get(key) ?? { open: 0, waiting: [] };
      queues.set(key, queue);
      if (queue.open >= mostOpen) return turn(queue.waiting, server, call.signal).then(() => leaving(key, queue));
      queue.open += 1;
      return leaving(key, queue);
    },
  };

  function leaving(key: string, queue: Queue): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      // The next waiting request gets the free place at once. Otherwise a later request could take it.
      const next = queue.waiting.shift();
      if (next !== undefined) return next();
      queue.open -= 1;
      if (queue.open === 0) queues.delete(key);
    };
  }
}

interface Queue {
  open: number;
  readonly waiting: (() => void)[];
}

async function turn(waiting: Queue["waiting"], server: string, signal: AbortSignal): Promise<void> {
  if (waiting.length >= mostWaiting)
    throw rpcError(
      rpcCodes.internal,
      `too many requests: ${mostWaiting} requests of this client are already waiting for "${server}"`,
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
