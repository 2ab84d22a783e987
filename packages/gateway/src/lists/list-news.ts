/** Tells clients that lists or resources have changed. Several changes within a short time become one notification. */

import type { Clock } from "@fairlead/core/clock";
import type { ListName } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host/types";

export interface ListNews {
  /**
   * Calls a function when a list has changed. Several changes of one list within `pauseMs` milliseconds cause one call.
   * Returns the function that stops the calls.
   */
  onLists(listener: (list: ListName, server: string | undefined) => void): () => void;
  onUpdated(listener: (server: string, uri: string) => void): () => void;
  /** Returns a number that increases whenever lists may have changed. */
  version(): number;
  /** Handles a `list_changed` notification that a server has sent to another host of the gateway. */
  announce(list: ListName, server: string): void;
  /** Handles lists that another host of the gateway has read from a server. */
  read(lists: readonly ListName[], server: string): void;
  /** Tells clients that lists have changed. Used for changes that the host itself does not report. */
  changed(lists: readonly ListName[], server?: string): void;
  updated(server: string, uri: string): void;
  close(): void;
}

const allLists: readonly ListName[] = ["tools", "prompts", "resources"];
const pauseMs = 100;
/**
 * After a server's `list_changed`, the gateway first reads the list again, for at most this many milliseconds. Then it
 * tells the clients.
 */
const readTime = 1000;
/** Milliseconds between two checks for changed rules. */
const rulesTime = 3000;

export function createListNews({ on, policy }: Pick<Host, "on" | "policy">, clock: Pick<Clock, "after">): ListNews {
  const listListeners = new Set<(list: ListName, server: string | undefined) => void>();
  const updateListeners = new Set<(server: string, uri: string) => void>();
  const waiting = new Map<ListName, string | undefined>();
  /** Lists for which a server has sent `list_changed` and which the host has not read again yet. */
  const announced = new Map<string, () => void>();
  let callOff: (() => void) | undefined;
  let stopRules: (() => void) | undefined;
  let version = 0;

  function deliver(): void {
    callOff = undefined;
    const due = [...waiting];
    waiting.clear();
    for (const [list, server] of due) for (const listener of listListeners) listener(list, server);
  }

  function changed(lists: readonly ListName[], server?: string): void {
    version += 1;
    for (const list of lists) waiting.set(list, waiting.has(list) && waiting.get(list) !== server ? undefined : server);
    callOff ??= clock.after(pauseMs, deliver, { background: true });
  }

  /** Checks regularly whether the rules have changed, because a rule can remove tools from a client's list. */
  function watchRules(): void {
    let last: unknown;
    let isOver = false;
    const look = async (): Promise<void> => {
      const now = await policy().catch(() => last);
      if (isOver) return;
      if (last !== undefined && now !== last) changed(["tools"]);
      last = now;
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

  function updated(server: string, uri: string): void {
    for (const listener of updateListeners) listener(server, uri);
  }

  /**
   * Handles a `list_changed` notification. Clients are told after the host has read the list again, because they then
   * request the list at once.
   */
  function announce(list: ListName, server: string): void {
    const key = JSON.stringify([list, server]);
    if (announced.has(key)) return;
    const tell = (): void => {
      announced.delete(key);
      changed([list], server);
    };
    announced.set(key, clock.after(readTime, tell, { background: true }));
  }

  function read(lists: readonly ListName[], server: string): void {
    for (const list of lists) {
      const key = JSON.stringify([list, server]);
      announced.get(key)?.();
      announced.delete(key);
    }
    changed(lists, server);
  }

  const stops = [
    on("catalog", ({ lists, server }) => read(lists, server)),
    // Clients are told even if the new list is equal to the old one.
    on("list_changed", ({ list, server }) => announce(list, server)),
    on("servers", () => changed(allLists)),
    on("resource_updated", ({ server, uri }) => updated(server, uri)),
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
    changed,
    announce,
    read,
    updated,
    close() {
      callOff?.();
      stopRules?.();
      for (const stop of announced.values()) stop();
      for (const stop of stops) stop();
    },
  };
}
