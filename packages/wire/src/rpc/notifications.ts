/** Hands the server's notifications to whoever listens; news that can only be repeated is coalesced first. */

import type { JsonObject, NotificationListener } from "../session.ts";
import type { Diagnose } from "../shapes/diagnostics.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import { coalesce } from "./coalesce.ts";

/** Milliseconds in which the same news is told once: long against a storm, short for a person. */
const stormWindow = 100;

export interface Notifications {
  readonly deliver: (method: string, params: JsonObject) => void;
  readonly listen: (listener: NotificationListener) => () => void;
  readonly stop: () => void;
}

export function createNotifications(odd: Diagnose): Notifications {
  const listeners = new Set<NotificationListener>();
  const storm = coalesce<{ method: string; params: JsonObject }>(stormWindow, ({ method, params }) =>
    tell(method, params),
  );

  function tell(method: string, params: JsonObject): void {
    for (const listener of listeners) {
      try {
        listener(method, params);
      } catch (error) {
        odd("a listener failed", `a listener failed on ${clip(method, 100)}: ${errorMessage(error)}`);
      }
    }
  }

  return {
    deliver(method, params) {
      const key = keyOf(method, params);
      if (key === undefined) tell(method, params);
      else storm.push(key, { method, params });
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: storm.stop,
  };
}

/** Notifications with the same key say the same thing; without a key, each one counts. */
function keyOf(method: string, params: JsonObject): string | undefined {
  if (method.endsWith("/list_changed")) return method;
  if (method === "notifications/resources/updated" && typeof params["uri"] === "string")
    return `${method} ${params["uri"]}`;
  return undefined;
}
