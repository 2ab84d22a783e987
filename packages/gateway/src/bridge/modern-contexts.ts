/**
 * Keeps the state of modern HTTP clients between their requests, because each request has its own connection. The state
 * of an endpoint ends after 30 minutes without requests.
 */

import { randomUUID } from "node:crypto";
import type { Clock } from "@fairlead/core/clock";
import type { AdmittedClient } from "../admission.ts";
import type { GatewayClient } from "../gateway-client.ts";
import type { BridgeContext } from "./bridge-context.ts";

/** An HTTP client at a URL. `only`: the server in `/mcp/<server>`, undefined for `/mcp`. */
export interface ClientEndpoint extends AdmittedClient {
  readonly only: string | undefined;
  /** Says which requests come from the same client at the same URL, in a team of the same user. */
  readonly key: string;
}

/** A client at another URL is another connection. */
export function toEndpoint(admitted: AdmittedClient, only: string | undefined): ClientEndpoint {
  const { client, workspace } = admitted;
  return { ...admitted, only, key: JSON.stringify([workspace.principal ?? null, client.name, only ?? ""]) };
}

/** The client of one connection. */
export function clientAt(
  { client, only }: Pick<ClientEndpoint, "client" | "only">,
  conversation: string,
): GatewayClient {
  return { ...client, only, conversation };
}

/** The contexts of all modern HTTP clients, by client and URL. */
export interface ModernContexts {
  /**
   * Returns the state for a request. Call `leave` when the request has ended. Rejects if the client's host cannot be
   * created.
   */
  enter(client: ClientEndpoint): Promise<{ readonly context: BridgeContext; readonly leave: () => void }>;
  /** Returns the state of earlier requests, or undefined if there is none. */
  find(client: ClientEndpoint): BridgeContext | undefined;
  close(): Promise<void>;
}

/** How to create a context. `conversation`: the id of the new context. */
export interface ModernContextsOptions {
  readonly open: (client: ClientEndpoint, conversation: string) => Promise<BridgeContext>;
  readonly clock: Pick<Clock, "after">;
}

/** Milliseconds without requests after which a context ends. Legacy sessions end after the same time. */
const idleTime = 1_800_000;

interface Kept {
  readonly opening: Promise<BridgeContext>;
  context: BridgeContext | undefined;
  requests: number;
  callOff: () => void;
}

/** Creates an empty store of contexts. `close` ends all of them. */
export function createModernContexts({ open, clock }: ModernContextsOptions): ModernContexts {
  const kept = new Map<string, Kept>();
  const ending = new Set<Promise<void>>();

  function end(key: string, one: Kept): void {
    one.callOff();
    if (kept.get(key) === one) kept.delete(key);
    const closing = one.opening.then(
      ({ workspace }) => workspace.close(),
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
      const { key } = client;
      const one = kept.get(key) ?? create(key, client);
      one.callOff();
      one.requests += 1;
      const leave = (): void => {
        one.requests -= 1;
        if (one.requests > 0) return;
        // A client could request any number of servers that do not exist, so their contexts are not kept.
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
    find: (client) => kept.get(client.key)?.context,
    async close() {
      for (const [key, one] of kept) end(key, one);
      await Promise.allSettled(ending);
    },
  };
}
