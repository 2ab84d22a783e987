/** Keeps subscriptions to resources on servers. Subscribes again after each reconnection. */

import { member } from "@fairlead/wire/json";
import { type Clock, sleep } from "../clock.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";
import type { Emitter, ServerState } from "../events.ts";
import type { Connection } from "../server/connection.ts";
import { backoffPause } from "../server/recovery-plan.ts";
import type { Servers } from "../server/servers.ts";
import { unlessAborted } from "../unless-aborted.ts";

/** The subscriptions of one host to resources on all servers. */
export interface Subscriptions extends Disposable {
  /**
   * Subscribes to a resource. The host emits `resource_updated` when the resource changes, or may have changed
   * unnoticed. The subscription ends when every caller has disposed of the returned object.
   *
   * @param own The connection of a gateway client. Default: the shared one.
   */
  subscribe(server: string, uri: string, signal?: AbortSignal, own?: Connection): Promise<Disposable>;
}

type Client = Pick<Connection, "capabilities" | "state" | "request">;

/** How to reach the servers, and the events of the host. */
export interface SubscriptionsOptions extends Pick<Emitter, "on" | "emit"> {
  readonly servers: Pick<Servers, "get" | "find">;
  readonly clock: Clock;
  readonly random?: () => number;
}

interface Wanted {
  readonly server: string;
  readonly uri: string;
  /** The connection of a gateway client. Undefined for the shared one. */
  own: Connection | undefined;
  readonly over: AbortController;
  /** Lets the server be stopped as idle. */
  release: () => void;
  holders: number;
  asked: Promise<void>;
  isSubscribing: boolean;
  /** The abort controller for the subscription's current connection. It is aborted when that connection ends. */
  connection: AbortController | undefined;
}

const mostPerServer = 100;

/** Creates an empty set of subscriptions. Disposing of it ends all subscriptions. */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { servers, on, emit, clock, random = Math.random } = options;
  const all = new Set<Wanted>();
  const stopFollowing = on("state", ({ state }) => {
    for (const wanted of ofServer(state.name)) if (wanted.own === undefined) follow(wanted, state);
  });
  const stopHolding = on("servers", ({ replaced }) => {
    for (const wanted of replaced.flatMap(ofServer)) holdSuccessor(wanted);
  });

  /** Keeps the server running that a reload has put in the place of the subscription's server. */
  function holdSuccessor(wanted: Wanted): void {
    wanted.release();
    wanted.own = wanted.own?.latest;
    wanted.release = hold(wanted);
    leaveConnection(wanted);
  }

  /** Keeps the connection running, and follows the state of a client's own. Returns the function that ends this. */
  function hold(wanted: Wanted): () => void {
    const { own, server } = wanted;
    const release = (own ?? servers.get(server)).use();
    const stop = own?.onState((state) => follow(wanted, state));
    return () => {
      stop?.();
      release();
    };
  }

  function leaveConnection(wanted: Wanted): void {
    wanted.connection?.abort();
    wanted.connection = undefined;
  }

  function follow(wanted: Wanted, state: ServerState): void {
    if (state.status !== "connected") leaveConnection(wanted);
    else if (state.offer && wanted.connection === undefined && !wanted.isSubscribing)
      void Promise.allSettled([askAgain(wanted)]);
  }

  function ofServer(server: string): readonly Wanted[] {
    return [...all].filter((wanted) => wanted.server === server);
  }

  function connectionOf({ server, own }: Wanted): Connection | undefined {
    return own ?? servers.find(server)?.shared;
  }

  function want(server: string, uri: string, own: Connection | undefined): Wanted {
    if (ofServer(server).length >= mostPerServer)
      throw new HostError(
        "busy",
        `there are already ${mostPerServer} subscriptions to resources of "${server}", which is the limit`,
        {
          serverName: server,
        },
      );
    const wanted: Wanted = {
      server,
      uri,
      over: new AbortController(),
      own,
      release: () => {},
      holders: 0,
      asked: Promise.resolve(),
      isSubscribing: true,
      connection: undefined,
    };
    wanted.release = hold(wanted);
    wanted.asked = ask(wanted).finally(() => {
      wanted.isSubscribing = false;
    });
    all.add(wanted);
    return wanted;
  }

  async function ask(wanted: Wanted): Promise<void> {
    const { server, over, own } = wanted;
    await open(wanted, await (own ?? servers.get(server)).ready(over.signal));
  }

  /**
   * Subscribes again after a reconnection. Does not report a failure, because Fairlead tries again with the next
   * connection.
   */
  async function askAgain(wanted: Wanted): Promise<void> {
    const { server, uri } = wanted;
    const connected = connectionOf(wanted);
    if (connected === undefined) return;
    await open(wanted, connected);
    emit({ type: "resource_updated", server, uri });
  }

  /**
   * Subscribes on a connection. On a modern server, opens a stream and does not wait for the response. On a legacy
   * server, waits until the server has accepted the subscription.
   */
  async function open(wanted: Wanted, connected: Client): Promise<void> {
    const { server, uri, over } = wanted;
    const { state, capabilities } = connected;
    over.signal.throwIfAborted();
    if (member(capabilities["resources"], "subscribe") !== true)
      throw new HostError("usage", `"${server}" does not support subscriptions to resources`, { serverName: server });
    const connection = new AbortController();
    const signal = AbortSignal.any([over.signal, connection.signal]);
    wanted.connection = connection;
    if (state.status === "connected" && state.peer.era === "modern")
      void listenToResource({
        uri,
        request: (...asked) => connected.request(...asked),
        onMissed: () => emit({ type: "resource_updated", server, uri }),
        signal,
        clock,
        random,
      });
    else await connected.request(subscriptionOf(wanted), "resources/subscribe", { uri }, { signal });
  }

  function drop(wanted: Wanted): void {
    if (!all.delete(wanted)) return;
    const connected = wanted.connection && connectionOf(wanted);
    wanted.over.abort();
    wanted.release();
    const { state } = connected ?? {};
    // Does not wait for the response to `resources/unsubscribe`, because updates that still arrive do no harm.
    if (connected && state?.status === "connected" && state.peer.era === "legacy")
      void Promise.allSettled([
        connected.request(subscriptionOf(wanted), "resources/unsubscribe", { uri: wanted.uri }),
      ]);
  }

  return {
    async subscribe(server, uri, signal, own) {
      const existing = ofServer(server).find((wanted) => wanted.uri === uri && wanted.own === own);
      const wanted = existing ?? want(server, uri, own);
      wanted.holders += 1;
      const held = new AbortController();
      held.signal.addEventListener("abort", () => {
        wanted.holders -= 1;
        if (wanted.holders === 0) drop(wanted);
      });
      try {
        await unlessAborted(wanted.asked, signal, () => cancelled(server, uri));
      } catch (error) {
        held.abort();
        throw error;
      }
      return { [Symbol.dispose]: () => held.abort() };
    },
    [Symbol.dispose]() {
      stopFollowing();
      stopHolding();
      for (const wanted of all) drop(wanted);
    },
  };
}

function subscriptionOf({ server, uri }: Wanted): string {
  return `subscription to ${uri} of ${server}`;
}

function cancelled(serverName: string, uri: string): HostError {
  return new HostError("cancelled", `the subscription to ${uri} of "${serverName}" was cancelled`, { serverName });
}

interface ListenOptions {
  readonly uri: string;
  readonly request: Connection["request"];
  /** Called when the stream is requested again. Fairlead may have missed changes while the stream was closed. */
  readonly onMissed: () => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A stream that lasts less than this many milliseconds counts as ended early. */
const steady = 60_000;
/**
 * After this many early ends in a row, Fairlead opens no more streams, because the server does not seem to support
 * them.
 */
const mostEnds = 8;
const method = "subscriptions/listen";

/**
 * Listens to one resource of a modern server, until the signal is aborted. If the stream breaks, opens it again. Never
 * rejects.
 */
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
    // `sleep` rejects only when the signal is aborted, which also ends the loop.
    await sleep(clock, backoffPause(ends, random), signal, { background: true }).catch(() => {});
  }
}

function isForGood(error: unknown): boolean {
  return !(error instanceof HostError) || retryClassOf(error, { isProgram: false }).kind !== "outage";
}
