/**
 * Tells clients that lists or resources have changed. Joins several changes within a short time into one notification.
 */

import type { Clock } from "@fairlead/core/clock";
import type { ListName } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host";

/** Passes changes of lists and resources from the host to the clients. */
export interface ListNews {
  /**
   * Calls `listener` when a list has changed, once for all changes within `pauseMs`. Returns the function that stops the
   * calls.
   */
  onLists(listener: (list: ListName, change: ListChange) => void): () => void;
  onUpdated(listener: (server: string, uri: string) => void): () => void;
  /** Returns a number that increases whenever lists may have changed. */
  version(): number;
  /** Call this for a change that the host does not report itself: a list may have changed. */
  changed(lists: readonly ListName[], server?: string): void;
  /** Reports what `reload` changes only when it has ended, once. */
  during(reload: Promise<unknown>): Promise<void>;
  close(): void;
}

/** A change of a list. */
export interface ListChange {
  /** Undefined if several servers changed. */
  readonly server: string | undefined;
  /**
   * Whether clients are told in any case: the server has announced the change, or the rules have changed. Otherwise only
   * clients that would get another list than before are told.
   */
  readonly isCertain: boolean;
}

const allLists: readonly ListName[] = ["tools", "prompts", "resources"];
const pauseMs = 100;
/**
 * After `list_changed`, clients are told when the host has read the list again, but at the latest after this many
 * milliseconds.
 */
const readTime = 1000;
/** Milliseconds between two checks for changed rules. */
const rulesTime = 3000;

/** Listens to the host's events. `close` ends this. */
export function createListNews({ on, policy }: Pick<Host, "on" | "policy">, clock: Pick<Clock, "after">): ListNews {
  const listListeners = new Set<(list: ListName, change: ListChange) => void>();
  const updateListeners = new Set<(server: string, uri: string) => void>();
  const waiting = new Map<ListName, ListChange>();
  /** Lists that a server has announced as changed and the host has not read yet. The values cancel their timers. */
  const announced = new Map<string, () => void>();
  let callOff: (() => void) | undefined;
  let stopRules: (() => void) | undefined;
  /** The rules that were last checked. */
  let rules: string | undefined;
  let version = 0;
  /** Reloads that are under way. */
  let reloads = 0;

  function deliver(): void {
    callOff = undefined;
    if (reloads > 0) return;
    const due = [...waiting];
    waiting.clear();
    for (const [list, change] of due) for (const listener of listListeners) listener(list, change);
  }

  function changed(lists: readonly ListName[], server?: string, isCertain = false): void {
    version += 1;
    for (const list of lists) {
      const before = waiting.get(list);
      const isSame = before === undefined || before.server === server;
      waiting.set(list, { server: isSame ? server : undefined, isCertain: isCertain || before?.isCertain === true });
    }
    deliverSoon();
  }

  function deliverSoon(): void {
    callOff ??= clock.after(pauseMs, deliver, { background: true });
  }

  /** Reports changed rules. They are compared as text, because a reload reads the same rules again. */
  async function checkRules(): Promise<void> {
    const now = await policy().then(
      ({ rules: all }) => JSON.stringify(all),
      () => rules,
    );
    if (listListeners.size === 0) return;
    if (rules !== undefined && now !== rules) changed(["tools"], undefined, true);
    rules = now;
  }

  /**
   * A changed rule can remove tools from a client's list, and nothing reports such a change. So the rules are checked
   * regularly.
   */
  function watchRules(): void {
    let isOver = false;
    rules = undefined;
    const look = async (): Promise<void> => {
      await checkRules();
      if (isOver) return;
      const callOff = clock.after(rulesTime, () => void look(), { background: true });
      stopRules = () => {
        isOver = true;
        callOff();
      };
    };
    stopRules = () => {
      isOver = true;
    };
    void look();
  }

  /** Waits until the host has read the list, because clients request it as soon as they are told. */
  function announce(list: ListName, server: string): void {
    const key = JSON.stringify([list, server]);
    if (announced.has(key)) return;
    const tell = (): void => {
      announced.delete(key);
      changed([list], server, true);
    };
    announced.set(key, clock.after(readTime, tell, { background: true }));
  }

  function read(lists: readonly ListName[], server: string): void {
    const certain = lists.filter((list) => {
      const key = JSON.stringify([list, server]);
      announced.get(key)?.();
      return announced.delete(key);
    });
    changed(lists, server);
    if (certain.length > 0) changed(certain, server, true);
  }

  const stops = [
    on("catalog", ({ lists, server }) => read(lists, server)),
    // Clients are told even if the new list equals the old one.
    on("list_changed", ({ list, server }) => announce(list, server)),
    on("servers", () => changed(allLists)),
    on("resource_updated", ({ server, uri }) => {
      for (const listener of updateListeners) listener(server, uri);
    }),
  ];

  return {
    onLists(listener) {
      listListeners.add(listener);
      if (stopRules === undefined) watchRules();
      return () => {
        listListeners.delete(listener);
        if (listListeners.size > 0) return;
        stopRules?.();
        stopRules = undefined;
      };
    },
    onUpdated(listener) {
      updateListeners.add(listener);
      return () => updateListeners.delete(listener);
    },
    version: () => version,
    changed: (lists, server) => changed(lists, server),
    async during(reload) {
      reloads += 1;
      await Promise.allSettled([reload]);
      if (listListeners.size > 0) await checkRules();
      reloads -= 1;
      if (waiting.size > 0) deliverSoon();
    },
    close() {
      callOff?.();
      // A host may report one more change while it closes. No client is left to be told, so no timer must begin.
      callOff = () => {};
      stopRules?.();
      for (const stop of announced.values()) stop();
      for (const stop of stops) stop();
    },
  };
}
