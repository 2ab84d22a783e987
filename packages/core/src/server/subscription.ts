/** Keeps a `subscriptions/listen` request open. Servers of the modern protocol report changed lists through it. */

import type { JsonObject, Session } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { type Clock, sleep } from "../clock.ts";
import { toCallError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import type { ListName } from "../events.ts";
import { backoffPause } from "./recovery-plan.ts";

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

/** An open subscription. If it breaks, it is opened again, with growing pauses. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #lists: readonly ListName[];
  #isOpen = false;
  #isReopened = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#lists = listsThatChange(options.session.capabilities);
    // A rejection is ignored, because `#keepOpen` rejects only when the signal is aborted.
    if (this.#lists.length > 0) void Promise.allSettled([this.#keepOpen()]);
  }

  /** The caller must call this when the server acknowledges the subscription. */
  acknowledged(): void {
    this.#isOpen = true;
    if (this.#isReopened) this.#options.onMissed(this.#lists);
  }

  async #keepOpen(): Promise<void> {
    const { clock, random, signal, onTrouble } = this.#options;
    for (let tries = 0; ; tries += 1) {
      const begin = clock.now();
      if (!(await this.#listen())) return;
      if (!this.#isOpen) onTrouble();
      this.#isReopened = true;
      if (clock.now() - begin >= steady) tries = 0;
      await sleep(clock, backoffPause(tries, random), signal, { background: true });
    }
  }

  /** Listens until the subscription ends. Resolves with true if it should be opened again. */
  async #listen(): Promise<boolean> {
    const { session, serverName, signal } = this.#options;
    const notifications = Object.fromEntries(this.#lists.map((list) => [filters[list], true]));
    this.#isOpen = false;
    try {
      await session.request(method, { notifications }, { signal });
      /*
       * The server ended the subscription without an error. If it never acknowledged the subscription, it does not
       * support subscriptions.
       */
      return this.#isOpen;
    } catch (error) {
      const failure = toCallError(error, { serverName, what: method, method });
      return retryClassOf(failure, { isProgram: false }).kind === "outage";
    }
  }
}

/** The lists for which a server with these capabilities reports changes. */
export function listsThatChange(capabilities: JsonObject): readonly ListName[] {
  return (["tools", "prompts", "resources"] as const).filter((list) => {
    const declared = capabilities[list];
    return member(declared, "listChanged") === true;
  });
}
