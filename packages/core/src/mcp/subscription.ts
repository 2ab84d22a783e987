/** A server of the modern era tells its changes to who listens: opens that subscription, and opens it again when it breaks. */

import type { JsonObject, Session } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { type Clock, sleep } from "../clock.ts";
import { toCallError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import type { ListName } from "../events.ts";
import { backoffPause } from "./recovery/backoff.ts";

export interface Subscription {
  /** The server has begun to tell. */
  readonly acknowledged: () => void;
}

export interface SubscriptionOptions {
  readonly session: Pick<Session, "capabilities" | "request">;
  readonly serverName: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Until then it is kept open. */
  readonly signal: AbortSignal;
  /** It is open again: whatever changed meanwhile was not told. */
  readonly onMissed: (lists: readonly ListName[]) => void;
  /** It could not be opened: perhaps nobody is there. */
  readonly onTrouble: () => void;
}

/** Who kept it open that long meant it; a shorter one counts as a failure. */
const steady = 60_000;
const filters = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

export function openSubscription(options: SubscriptionOptions): Subscription {
  const { session, serverName, clock, random, signal, onMissed, onTrouble } = options;
  const lists = listsThatChange(session.capabilities);
  const notifications = Object.fromEntries(lists.map((list) => [filters[list], true]));
  let isOpen = false;
  let isReopened = false;

  /** Whether it is worth opening once more. */
  async function listen(): Promise<boolean> {
    isOpen = false;
    try {
      await session.request("subscriptions/listen", { notifications }, { signal });
      // Ended in peace; by who never began, for good.
      return isOpen;
    } catch (error) {
      const failure = toCallError(error, { serverName, what: "subscriptions/listen" });
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

  // What ends the sleep is the signal, and then there is nothing more to do.
  if (lists.length > 0) void Promise.allSettled([keepOpen()]);
  return {
    acknowledged() {
      isOpen = true;
      if (isReopened) onMissed(lists);
    },
  };
}

function listsThatChange(capabilities: JsonObject): readonly ListName[] {
  return (["tools", "prompts", "resources"] as const).filter((list) => {
    const declared = capabilities[list];
    return member(declared, "listChanged") === true;
  });
}
