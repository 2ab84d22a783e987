/** Tells clients that lists or resources have changed: a burst of changes becomes one notification. */

import type { Clock } from "@fairlead/core/clock";
import type { ListName } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host/types";

export interface ListNews {
  /** Calls back after lists have changed, at most once per list within the pause. Returns the function that stops it. */
  onLists(listener: (list: ListName, server: string | undefined) => void): () => void;
  onUpdated(listener: (server: string, uri: string) => void): () => void;
  /** Increases with every change that the lists may show. */
  version(): number;
  /** Reports changes that the host does not report by itself. */
  changed(lists: readonly ListName[], server?: string): void;
  updated(server: string, uri: string): void;
  close(): void;
}

const allLists: readonly ListName[] = ["tools", "prompts", "resources"];
const pauseMs = 100;

export function createListNews(on: Host["on"], clock: Pick<Clock, "after">): ListNews {
  const listListeners = new Set<(list: ListName, server: string | undefined) => void>();
  const updateListeners = new Set<(server: string, uri: string) => void>();
  const waiting = new Map<ListName, string | undefined>();
  let callOff: (() => void) | undefined;
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

  function updated(server: string, uri: string): void {
    for (const listener of updateListeners) listener(server, uri);
  }

  const stops = [
    on("catalog", ({ lists, server }) => changed(lists, server)),
    // Also if the lists are the same as before: the server's clients expect the notification.
    on("list_changed", ({ list, server }) => changed([list], server)),
    on("servers", () => changed(allLists)),
    on("resource_updated", ({ server, uri }) => updated(server, uri)),
  ];

  return {
    onLists(listener) {
      listListeners.add(listener);
      return () => listListeners.delete(listener);
    },
    onUpdated(listener) {
      updateListeners.add(listener);
      return () => updateListeners.delete(listener);
    },
    version: () => version,
    changed,
    updated,
    close() {
      callOff?.();
      for (const stop of stops) stop();
    },
  };
}
