/** Reconnects the servers of a long-running host, and checks connections after the machine slept. */

import type { Clock } from "../clock.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { Connection, ConnectionEnd } from "./connection.ts";
import type { StartableServer } from "./managed-server.ts";
import { emptyHistory, mostCrashes, planAfter, type RetryHistory, type RetryInputs, soon } from "./recovery-plan.ts";
import { toFailure } from "./server-state.ts";

/** Reconnects servers after failures. Their names identify the servers. */
export interface Recoveries {
  /** Makes Fairlead reconnect this server whenever its connection ends. */
  add(server: StartableServer): void;
  remove(name: string): void;
  /** Cancels the planned attempt to connect to this server. */
  cancel(name: string): void;
  /** Forgets earlier failures of the server. Called when a person starts the server. */
  resetHistory(name: string): void;
  /** Checks all network connections each time the machine wakes from sleep. Runs until `stop` is called. */
  watch(): void;
  stop(): void;
}

/** The function that reconnects a server, and the clock for the pauses between attempts. */
export interface RecoveriesOptions extends RetryInputs {
  readonly reconnect: (client: Connection) => void;
  readonly clock: Clock;
}

/** After the machine wakes, each connection is checked at a random moment within this many milliseconds. */
const wakingTime = 5000;

/** Creates the object that reconnects servers. It has no servers at first. */
export function createRecoveries({ reconnect, clock, random, now }: RecoveriesOptions): Recoveries {
  const servers = new Map<string, { readonly client: Connection; readonly recovery: Recovery; stop(): void }>();
  let stopWatching: (() => void) | undefined;

  /** Checks a network connection, which may have ended unnoticed while the machine slept. */
  function checkLater(client: Connection): void {
    const { state } = client;
    const isRemote =
      state.status === "connected" && (state.peer.transport === "http" || state.peer.transport === "sse");
    if (isRemote) clock.after(random() * wakingTime, () => void client.check(), { background: true });
  }

  return {
    add({ client, isProgram = false }) {
      const again = (): void => reconnect(client);
      const recovery = createRecovery({ client, isProgram, reconnect: again, clock, random, now });
      client.followChanges();
      servers.set(client.name, { client, recovery, stop: client.onEnd(recovery.ended) });
    },
    remove(name) {
      const entry = servers.get(name);
      servers.delete(name);
      entry?.stop();
      entry?.recovery.cancel();
    },
    cancel: (name) => servers.get(name)?.recovery.cancel(),
    resetHistory: (name) => servers.get(name)?.recovery.resetHistory(),
    watch() {
      stopWatching ??= watchForSleep({
        clock,
        now,
        onWake() {
          for (const { client } of servers.values()) checkLater(client);
        },
      });
    },
    stop() {
      stopWatching?.();
      stopWatching = undefined;
    },
  };
}

interface SleepWatchOptions {
  readonly clock: Clock;
  /** The wall clock, in milliseconds since 1970. It is needed because `clock` stands still while the machine sleeps. */
  readonly now: () => number;
  readonly onWake: () => void;
}

const step = 10_000;
const noticed = 30_000;

/**
 * Calls `onWake` after the machine slept or the process was suspended: the wall clock has then advanced more than the
 * timers. Returns a function that stops the watch.
 */
export function watchForSleep({ clock, now, onWake }: SleepWatchOptions): () => void {
  let last = now();
  let cancelTimer = clock.after(step, look, { background: true });

  function look(): void {
    const time = now();
    const isAwakeAgain = time - last > noticed;
    last = time;
    cancelTimer = clock.after(step, look, { background: true });
    if (isAwakeAgain) onWake();
  }

  return () => cancelTimer();
}

interface Recovery {
  /** Plans the next attempt to connect. */
  readonly ended: (end: ConnectionEnd) => void;
  readonly cancel: () => void;
  readonly resetHistory: () => void;
}

interface RecoveryOptions extends RetryInputs {
  readonly client: Pick<Connection, "name" | "state" | "setRetry">;
  readonly isProgram: boolean;
  readonly reconnect: () => void;
  readonly clock: Clock;
}

function createRecovery({ client, isProgram, reconnect, clock, random, now }: RecoveryOptions): Recovery {
  let history: RetryHistory = emptyHistory;
  let cancelTimer = (): void => {};

  function reconnectIfWaiting(): void {
    if ("nextTryAt" in client.state) reconnect();
  }

  return {
    ended({ error, startedAt, wasUp }) {
      const endedAt = clock.now();
      const end = { retry: retryClassOf(error, { isProgram }), lasted: endedAt - startedAt, wasUp };
      const { plan, history: after } = planAfter(history, end, { random, now });
      history = after;
      switch (plan.kind) {
        case "stay":
          return;
        case "try_at_once":
          return reconnect();
        case "wait":
          client.setRetry({ type: "postponed", because: toFailure(error), nextTryAt: endedAt + plan.milliseconds });
          cancelTimer = clock.after(plan.milliseconds, reconnectIfWaiting, { background: true });
          return;
        case "give_up":
          client.setRetry({ type: "given_up", because: toFailure(startLimit(client.name, error)) });
      }
    },
    cancel: () => cancelTimer(),
    resetHistory() {
      history = emptyHistory;
    },
  };
}

function startLimit(serverName: string, last: HostError): HostError {
  const message = `"${serverName}" failed ${mostCrashes} times within ${soon / 1000} s of its start; last failure: ${last.message}`;
  const { evidence } = last;
  return new HostError("start_limit", message, {
    serverName,
    cause: last,
    next: `fairlead mcp test ${toShellWord(serverName)}`,
    ...(evidence !== undefined && { evidence }),
  });
}
