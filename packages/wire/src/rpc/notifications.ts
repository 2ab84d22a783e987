/** Passes the server's notifications to the listeners, with a rate limit for repeated notifications. */

import type { JsonObject, NotificationListener } from "../session.ts";
import type { Diagnose } from "../shapes/diagnostics.ts";
import { clip, errorMessage } from "../shapes/text.ts";

/** If a server repeats a notification, it is delivered at most once in this many milliseconds. */
const repeatWindow = 100;

/** Delivers the notifications of one session to its listeners. */
export interface Notifications {
  readonly deliver: (method: string, params: JsonObject) => void;
  /** Passes a notification to one listener. An error of the listener becomes a diagnostic. */
  readonly tell: (listener: NotificationListener, method: string, params: JsonObject) => void;
  readonly listen: (listener: NotificationListener) => () => void;
  /** Delivers the repeated notifications that are held back. */
  readonly flush: () => void;
  readonly stop: () => void;
}

/** Creates the listener list of one session, at first empty. */
export function createNotifications(diagnose: Diagnose): Notifications {
  const listeners = new Set<NotificationListener>();
  const repeated = coalesce<{ method: string; params: JsonObject }>(repeatWindow, ({ method, params }) =>
    tellAll(method, params),
  );

  function tell(listener: NotificationListener, method: string, params: JsonObject): void {
    try {
      listener(method, params);
    } catch (error) {
      diagnose("a listener failed", `a listener failed on ${clip(method, 100)}: ${errorMessage(error)}`);
    }
  }

  function tellAll(method: string, params: JsonObject): void {
    for (const listener of listeners) tell(listener, method, params);
  }

  return {
    deliver(method, params) {
      const key = keyOf(method, params);
      if (key === undefined) tellAll(method, params);
      else repeated.push(key, { method, params });
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell,
    flush: repeated.flush,
    stop: repeated.stop,
  };
}

/** Notifications with the same key are repetitions. Without a key, each notification is delivered. */
function keyOf(method: string, params: JsonObject): string | undefined {
  if (method.endsWith("/list_changed")) return method;
  if (method === "notifications/resources/updated" && typeof params["uri"] === "string")
    return `${method} ${params["uri"]}`;
  return undefined;
}

/** Accepts values, and delivers them at a limited rate. */
export interface Coalesced<T> {
  readonly push: (key: string, value: T) => void;
  /** Delivers the values that wait for the end of their window. */
  readonly flush: () => void;
  /** Drops the values that are not delivered yet. */
  readonly stop: () => void;
}

/** Delivers values with the same key at most once in `window` milliseconds. */
export function coalesce<T>(window: number, deliver: (value: T) => void): Coalesced<T> {
  const delivered = new Set<string>();
  const waiting = new Map<string, T>();
  let timer: NodeJS.Timeout | undefined;

  function push(key: string, value: T): void {
    if (delivered.has(key)) {
      waiting.set(key, value);
      return;
    }
    delivered.add(key);
    timer ??= setTimeout(nextWindow, window).unref();
    deliver(value);
  }

  function nextWindow(): void {
    const late = [...waiting];
    timer = undefined;
    delivered.clear();
    waiting.clear();
    for (const [key, value] of late) push(key, value);
  }

  function flush(): void {
    if (waiting.size === 0) return;
    const late = [...waiting.values()];
    waiting.clear();
    for (const value of late) deliver(value);
  }

  return { push, flush, stop: () => clearTimeout(timer) };
}
