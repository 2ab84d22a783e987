/** Tells clients that lists or resources have changed. Several changes within a short time become one notification. */

import type { Clock } from "@fairlead/core/clock";
import type { ListName } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host/types";

export interface ListNews {
  /**
   * Calls a function after lists have changed, at most once for each list in `pauseMs` milliseconds. Returns the
   * function that stops the calls.
   */
  onLists(listener: (list: ListName, server: string | undefined) => void): () => void;
  onUpdated(listener: (server: string, uri: string) => void): () => void;
  /** Returns a number that increases with every possible change of the lists. */
  version(): number;
  /** Handles a `list_changed` notification that a server has sent to another host of the gateway. */
  announce(list: ListName, server: string): void;
  /** Handles lists that another host of the gateway has read from a server. */
  read(lists: readonly ListName[], server: string): void;
  /** Tells clients that lists have changed, if the host itself does not report the change. */
  changed(lists: readonly ListName[], server?: string): void;
  updated(server: string, uri: string): void;
  close(): void;
}

const allLists: readonly ListName[] = ["tools", "prompts", "resources"];
const pauseMs = 100;
/** Maximum milliseconds to wait until a changed list has been read, before clients are told that it has changed. */
const readTime = 1000;
/**
 * Milliseconds between two checks for changed rules. The checks run only while a client wants to know about changes.
 */
const rulesTime = 3000;

export function createListNews({ on, policy }: Pick<Host, "on" | "policy">, clock: Pick<Clock, "after">): ListNews {
  const listListeners = new Set<(list: ListName, server: string | undefined) => void>();
  const updateListeners = new Set<(server: string, uri: string) => void>();
  const waiting = new Map<ListName, string | undefined>();
  /** Lists that a server has announced as changed, and that the host has not read since. */
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

  /** Tells clients about a changed list only after the host has read the list, because clients request it at once. */
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
    // Clients expect every `list_changed` notification of a server, even if the list is still the same.
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
