/** Keeps a `subscriptions/listen` request open. Servers of the modern protocol report changed lists through it. */

import type { JsonObject, Session } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { type Clock, sleep } from "../clock.ts";
import { toCallError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import type { ListName } from "../events.ts";
import { backoffPause } from "./recovery-plan.ts";

/** An open subscription. The caller must pass on the server's acknowledgement. */
export interface Subscription {
  /** The caller must call this when the server acknowledges the subscription. */
  readonly acknowledged: () => void;
}

/** The session to subscribe on, and callbacks for missed changes and failures. */
export interface SubscriptionOptions {
  readonly session: Pick<Session, "capabilities" | "request">;
  readonly serverName: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** When this signal is aborted, the subscription ends. */
  readonly signal: AbortSignal;
  /** Called when a broken subscription is open again, with the lists that may have changed in the meantime. */
  readonly onMissed: (lists: readonly ListName[]) => void;
  /**
   * Called when the subscription could not be opened, so that the caller can check whether the server still responds.
   */
  readonly onTrouble: () => void;
}

/** If a subscription stayed open for this many milliseconds, the next pause is short again. */
const steady = 60_000;
const method = "subscriptions/listen";
const filters = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** Opens the subscription. If it breaks, opens it again, with growing pauses. */
export function openSubscription(options: SubscriptionOptions): Subscription {
  const { session, serverName, clock, random, signal, onMissed, onTrouble } = options;
  const lists = listsThatChange(session.capabilities);
  const notifications = Object.fromEntries(lists.map((list) => [filters[list], true]));
  let isOpen = false;
  let isReopened = false;

  /** Listens until the subscription ends. Resolves with true if it should be opened again. */
  async function listen(): Promise<boolean> {
    isOpen = false;
    try {
      await session.request(method, { notifications }, { signal });
      /*
       * The server ended the subscription without an error. If it never acknowledged the subscription, it does not
       * support subscriptions.
       */
      return isOpen;
    } catch (error) {
      const failure = toCallError(error, { serverName, what: method, method });
      return retryClassOf(failure, { isProgram: false }).kind === "outage";
    }
  }

  async function keepOpen(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const begin = clock.now();
      if (!(await listen())) return;
      if (!isOpen) onTrouble();
      isReopened = true;
      if (clock.now() - begin >= steady) tries = 0;
      await sleep(clock, backoffPause(tries, random), signal, { background: true });
    }
  }

  // A rejection is ignored, because `keepOpen` rejects only when the signal is aborted.
  if (lists.length > 0) void Promise.allSettled([keepOpen()]);
  return {
    acknowledged() {
      isOpen = true;
      if (isReopened) onMissed(lists);
    },
  };
}

/** The lists for which a server with these capabilities reports changes. */
export function listsThatChange(capabilities: JsonObject): readonly ListName[] {
  return (["tools", "prompts", "resources"] as const).filter((list) => {
    const declared = capabilities[list];
    return member(declared, "listChanged") === true;
  });
}
