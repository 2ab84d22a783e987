/** Brings back the servers of a host that stays: each in its own time, and all of them looked after when the machine has slept. */

import type { Clock } from "../../clock.ts";
import type { McpClient } from "../client.ts";
import type { StartableServer } from "../managed-server.ts";
import { createRecovery, type Recovery } from "./recovery.ts";
import type { RetryInputs } from "./recovery-plan.ts";
import { watchForSleep } from "./sleep-watch.ts";

export interface Recoveries {
  /** From now on it is brought back when it ends. */
  adopt(server: StartableServer): void;
  release(name: string): void;
  /** What was planned for it is not done. */
  callOff(name: string): void;
  /** A person wants it: what was held against it is forgotten. */
  forgive(name: string): void;
  /** Begins to look for sleep, if it does not yet. */
  watch(): void;
  rest(): void;
}

export interface RecoveriesOptions extends RetryInputs {
  readonly tryAgain: (client: McpClient) => void;
  readonly clock: Clock;
}

/** Milliseconds over which connections are looked at after a sleep: not all at once. */
const wakingTime = 5000;

export function createRecoveries({ tryAgain, clock, random, now }: RecoveriesOptions): Recoveries {
  const adopted = new Map<string, { readonly client: McpClient; readonly recovery: Recovery; stop(): void }>();
  let stopWatching: (() => void) | undefined;

  /** A connection over a network may be gone without a word. */
  function lookAfter(client: McpClient): void {
    const { state } = client;
    const isFar = state.status === "connected" && (state.peer.transport === "http" || state.peer.transport === "sse");
    if (isFar) clock.after(random() * wakingTime, () => void client.check(), { background: true });
  }

  return {
    adopt({ client, isProgram = false }) {
      const again = (): void => tryAgain(client);
      const recovery = createRecovery({ client, isProgram, tryAgain: again, clock, random, now });
      client.follow();
      adopted.set(client.name, { client, recovery, stop: client.onEnd(recovery.ended) });
    },
    release(name) {
      const entry = adopted.get(name);
      adopted.delete(name);
      entry?.stop();
      entry?.recovery.callOff();
    },
    callOff: (name) => adopted.get(name)?.recovery.callOff(),
    forgive: (name) => adopted.get(name)?.recovery.forgive(),
    watch() {
      stopWatching ??= watchForSleep({
        clock,
        now,
        onWake() {
          for (const { client } of adopted.values()) lookAfter(client);
        },
      });
    },
    rest() {
      stopWatching?.();
      stopWatching = undefined;
    },
  };
}
