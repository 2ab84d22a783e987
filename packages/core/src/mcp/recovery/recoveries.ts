/** Reconnects the servers of a long-running host, and checks connections after the machine slept. */

import type { Clock } from "../../clock.ts";
import type { McpClient } from "../client.ts";
import type { StartableServer } from "../managed-server.ts";
import { createRecovery, type Recovery } from "./recovery.ts";
import type { RetryInputs } from "./recovery-plan.ts";
import { watchForSleep } from "./sleep-watch.ts";

/** The servers that are reconnected. */
export interface Recoveries {
  /** Reconnects this server from now on. */
  add(server: StartableServer): void;
  remove(name: string): void;
  /** Cancels the planned attempt. */
  cancel(name: string): void;
  /** Forgets earlier failures, because the person starts the server. */
  resetHistory(name: string): void;
  /** Starts to watch for sleep of the machine. */
  watch(): void;
  /** Stops to watch for sleep. */
  stop(): void;
}

/** Options of `createRecoveries`. */
export interface RecoveriesOptions extends RetryInputs {
  readonly reconnect: (client: McpClient) => void;
  readonly clock: Clock;
}

/** Milliseconds over which the checks after a sleep are spread. */
const wakingTime = 5000;

/** Starts without servers. */
export function createRecoveries({ reconnect, clock, random, now }: RecoveriesOptions): Recoveries {
  const servers = new Map<string, { readonly client: McpClient; readonly recovery: Recovery; stop(): void }>();
  let stopWatching: (() => void) | undefined;

  /** Checks a network connection, which may have ended without notice. */
  function checkLater(client: McpClient): void {
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
