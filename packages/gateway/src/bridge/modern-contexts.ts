/**
 * The state that the gateway keeps for modern HTTP clients. Such a client opens a connection for each request. Its
 * requests to one URL share one context, which ends when no request has arrived for 30 minutes.
 */

import { randomUUID } from "node:crypto";
import type { Clock } from "@fairlead/core/clock";
import type { BridgeContext } from "./bridge-context.ts";

/** A client and its URL. For `/mcp/<server>`, `only` is the name of the server. For `/mcp`, `only` is undefined. */
export interface ClientEndpoint {
  readonly name: string;
  readonly only: string | undefined;
}

export interface ModernContexts {
  /**
   * Returns the context for a request. Call `leave` when the request has ended. Rejects if the client's hosts cannot be
   * created.
   */
  enter(client: ClientEndpoint): Promise<{ readonly context: BridgeContext; readonly leave: () => void }>;
  /** Returns the context of the client's earlier requests. Returns undefined if there is none. */
  find(client: ClientEndpoint): BridgeContext | undefined;
  close(): Promise<void>;
}

export interface ModernContextsOptions {
  readonly open: (client: ClientEndpoint, conversation: string) => Promise<BridgeContext>;
  readonly clock: Pick<Clock, "after">;
}

/** A context ends after this many milliseconds without requests. A legacy session ends after the same time. */
const idleTime = 1_800_000;

interface Kept {
  readonly opening: Promise<BridgeContext>;
  context: BridgeContext | undefined;
  requests: number;
  callOff: () => void;
}

export function createModernContexts({ open, clock }: ModernContextsOptions): ModernContexts {
  const kept = new Map<string, Kept>();
  const ending = new Set<Promise<void>>();

  function end(key: string, one: Kept): void {
    one.callOff();
    if (kept.get(key) === one) kept.delete(key);
    const closing = one.opening.then(
      ({ hosts }) => hosts.close(),
      () => undefined,
    );
    ending.add(closing);
    void closing.finally(() => ending.delete(closing));
  }

  function create(key: string, client: ClientEndpoint): Kept {
    const opening = open(client, randomUUID());
    const made: Kept = { opening, context: undefined, requests: 0, callOff: () => {} };
    kept.set(key, made);
    return made;
  }

  return {
    async enter(client) {
      const key = keyOf(client);
      const one = kept.get(key) ?? create(key, client);
      one.callOff();
      one.requests += 1;
      const leave = (): void => {
        one.requests -= 1;
        if (one.requests > 0) return;
        // A client can request any number of URLs, so no context is kept for a server that does not exist.
        const isKnown = client.only === undefined || one.context?.view().servers.includes(client.only) === true;
        if (isKnown) one.callOff = clock.after(idleTime, () => end(key, one), { background: true });
        else end(key, one);
      };
      try {
        one.context = await one.opening;
        return { context: one.context, leave };
      } catch (error) {
        leave();
        if (kept.get(key) === one) kept.delete(key);
        throw error;
      }
    },
    find: (client) => kept.get(keyOf(client))?.context,
    async close() {
      for (const [key, one] of kept) end(key, one);
      await Promise.allSettled(ending);
    },
  };
}

function keyOf({ name, only }: ClientEndpoint): string {
  return JSON.stringify([name, only]);
}
