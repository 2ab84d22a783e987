/**
 * Converts a recording to scripts: for each message of the client, the messages that the server sent in reply. Pure.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member, objectOf, stringOf } from "@fairlead/wire/json";
import { groupBy } from "../text/group-by.ts";
import type { RecordedMessage, Recording } from "./recording.ts";

/**
 * One message of the server. `after` is the time since the previous message in milliseconds, without the client's time
 * to answer.
 */
export type ScriptStep = { readonly after: number } & (
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject; readonly about: About }
  | { readonly kind: "request"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: JsonObject }
);

/** What connects a notification with a client's request: a progress token, a subscription, or nothing. */
export type About =
  | { readonly kind: "progress" }
  | { readonly kind: "subscription"; readonly script: Script }
  | { readonly kind: "none" };

/** A message of the client, with all messages that the server sent in reply. */
export interface Script {
  readonly method: string;
  readonly params: JsonObject;
  /** Whether the message is a request; false for a notification, which has no answer. */
  readonly isRequest: boolean;
  readonly isModern: boolean;
  /** Whether the client cancelled the request. */
  readonly isCancelled: boolean;
  readonly steps: readonly ScriptStep[];
}

interface OpenScript extends Script {
  isCancelled: boolean;
  readonly steps: ScriptStep[];
  /** The time of the server's or the client's last message in this script. */
  last: number;
}

const versionKey = "io.modelcontextprotocol/protocolVersion";
/** The member of `_meta` that names the subscription to which a notification belongs. */
export const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

/**
 * The scripts, connection by connection. Within a connection, the scripts are in the order of the client's messages.
 */
export function scriptsOf({ messages }: Pick<Recording, "messages">): readonly Script[] {
  return [...groupBy(messages, ({ c }) => c).values()].flatMap(scriptsOfConnection);
}

function scriptsOfConnection(messages: readonly RecordedMessage[]): readonly Script[] {
  const scripts: OpenScript[] = [];
  const byId = new Map<unknown, OpenScript>();
  const byToken = new Map<unknown, OpenScript>();
  /** Scripts in which the server has sent a request and waits for the client's answer. */
  const waiting = new Map<unknown, OpenScript>();
  let latest: OpenScript | undefined;

  function begin({ at, message }: RecordedMessage, method: string): void {
    const { id } = message;
    const params = objectOf(message["params"]);
    if (method === "notifications/cancelled") {
      const cancelled = byId.get(params["requestId"]);
      if (cancelled !== undefined) cancelled.isCancelled = true;
      return;
    }
    const meta = member(params, "_meta");
    const isModern = stringOf(member(meta, versionKey)) !== undefined;
    latest = { method, params, isRequest: id !== undefined, isModern, isCancelled: false, steps: [], last: at };
    scripts.push(latest);
    if (id !== undefined) byId.set(id, latest);
    const token = member(meta, "progressToken");
    if (token !== undefined) byToken.set(token, latest);
  }

  function add(script: OpenScript | undefined, at: number, step: (after: number) => ScriptStep): void {
    if (script === undefined) return;
    script.steps.push(step(Math.max(0, at - script.last)));
    script.last = at;
  }

  function addFromServer({ at, message }: RecordedMessage): void {
    const { id, result, error } = message;
    const method = stringOf(message["method"]);
    const params = objectOf(message["params"]);
    if (method === undefined) {
      const failed = isObject(error) ? error : undefined;
      const given = objectOf(result);
      const script = byId.get(id);
      byId.delete(id);
      add(script, at, (after) =>
        failed === undefined ? { after, kind: "result", result: given } : { after, kind: "error", error: failed },
      );
    } else if (id !== undefined) {
      if (latest !== undefined) waiting.set(id, latest);
      add(latest, at, (after) => ({ after, kind: "request", method, params }));
    } else {
      const isProgress = method === "notifications/progress";
      const subscription = byId.get(member(member(params, "_meta"), subscriptionKey));
      const about: About = isProgress
        ? { kind: "progress" }
        : subscription === undefined
          ? { kind: "none" }
          : { kind: "subscription", script: subscription };
      const owner = isProgress ? byToken.get(params["progressToken"]) : latest;
      add(owner, at, (after) => ({ after, kind: "notification", method, params, about }));
    }
  }

  for (const recorded of messages) {
    const { from, message } = recorded;
    if (from === "server") addFromServer(recorded);
    else if (typeof message["method"] === "string") begin(recorded, message["method"]);
    else {
      const script = waiting.get(message["id"]);
      if (script !== undefined) {
        script.last = recorded.at;
        latest = script;
      }
    }
  }
  return scripts;
}
