/** Tells clients that lists or resources have changed; several changes in a short time become one notification. */

import type { Clock } from "@fairlead/core/clock";
import type { ListName } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host/types";

export interface ListNews {
  /**
   * Calls back after lists have changed, at most once per list within the pause. Returns the function that stops the
   * calls.
   */
  onLists(listener: (list: ListName, server: string | undefined) => void): () => void;
  onUpdated(listener: (server: string, uri: string) => void): () => void;
  /** A number that increases with every change that the lists may show. */
  version(): number;
  /** Reports that a server of another host has announced a changed list. */
  announce(list: ListName, server: string): void;
  /** Reports that lists of a server of another host have been read. */
  read(lists: readonly ListName[], server: string): void;
  /** Reports changes that the host does not report by itself. */
  changed(lists: readonly ListName[], server?: string): void;
  updated(server: string, uri: string): void;
  close(): void;
}

const allLists: readonly ListName[] = ["tools", "prompts", "resources"];
const pauseMs = 100;
/** How long to wait for a changed list to be read before clients are told, in milliseconds. */
const readTime = 1000;
/** How often to check for changed rules while a client wants to be told about changes, in milliseconds. */
const rulesTime = 3000;

export function createListNews({ on, policy }: Pick<Host, "on" | "policy">, clock: Pick<Clock, "after">): ListNews {
  const listListeners = new Set<(list: ListName, server: string | undefined) => void>();
  const updateListeners = new Set<(server: string, uri: string) => void>();
  const waiting = new Map<ListName, string | undefined>();
  /** Lists that a server has announced as changed and that have not been read since. */
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

  /** Includes the rules in the comparison, because a rule can remove tools from a client's list. */
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

  /** Waits until the changed list has been read, because clients request it as soon as they are told. */
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
    // Even if the lists are unchanged: the server's clients expect the notification.
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
