/**
 * Records what a relay must tell a new host: `initialize`, the log level, the subscriptions, and the names that the client
 * has seen.
 */

import type { JsonObject } from "@fairlead/wire";
import { member, parseObject } from "@fairlead/wire/json";
import type { RelayName } from "./speech.ts";

/** A request that the relay repeats to a new host. The client does not get the response, because it already has one. */
export interface ReplayedRequest {
  readonly id: string;
  readonly line: string;
}

/** The state of one client, as far as a new host needs it. */
export interface ClientState {
  /** Call this for each message of the client. Ignores messages that a new host does not need. */
  note(method: string, line: Buffer): void;
  /** Call this for the names that the host is about to show to the client. */
  seen(names: readonly RelayName[]): void;
  /** Returns all names that the client has seen. */
  names(): readonly RelayName[];
  /** Call this for the host's response to `initialize`. */
  greeted(line: Buffer): void;
  /** Returns the `initialize` request for a new host. Undefined if no host has accepted one yet. */
  greeting(): ReplayedRequest | undefined;
  /** Returns the other lines for a new host, in the order in which they must be sent. */
  afterGreeting(): readonly (ReplayedRequest | string)[];
  /** Returns the lists, such as `tools`, for which the client expects `list_changed`. */
  announcedLists(): readonly string[];
}

/** Ids of repeated requests begin with this text. Clients do not use such ids. */
const replayedId = "fairlead-relay:";

/** Whether a response answers a repeated request. `id`: as JSON text. */
export function isReplayed(id: string): boolean {
  return id.startsWith(`"${replayedId}`);
}

/** Creates the record. It is empty until the client sends `initialize`. */
export function createClientState(): ClientState {
  let initialize: JsonObject | undefined;
  let isGreeted = false;
  let initialized: string | undefined;
  let level: JsonObject | undefined;
  let lists: readonly string[] = [];
  const subscriptions = new Map<string, JsonObject>();
  const names: RelayName[] = [];
  let count = 0;

  function replay(message: JsonObject): ReplayedRequest {
    count += 1;
    const id = `${replayedId}${count}`;
    return { id: JSON.stringify(id), line: `${JSON.stringify({ ...message, id })}\n` };
  }

  return {
    note(method, line) {
      if (!noted.has(method)) return;
      const message = readMessage(line);
      if (message === undefined) return;
      const uri = member(message["params"], "uri");
      if (method === "initialize") {
        initialize = message;
        isGreeted = false;
      } else if (method === "notifications/initialized") initialized = `${JSON.stringify(message)}\n`;
      else if (method === "logging/setLevel") level = message;
      else if (typeof uri !== "string") return;
      else if (method === "resources/subscribe") subscriptions.set(uri, message);
      else subscriptions.delete(uri);
    },
    seen(added) {
      for (const name of added) names.push(name);
    },
    names: () => names,
    greeted(line) {
      const capabilities = member(member(readMessage(line), "result"), "capabilities");
      isGreeted = capabilities !== undefined;
      lists = ["tools", "prompts", "resources"].filter(
        (list) => member(member(capabilities, list), "listChanged") === true,
      );
    },
    greeting: () => (isGreeted && initialize !== undefined ? replay(initialize) : undefined),
    afterGreeting() {
      if (!isGreeted) return [];
      return [
        ...(initialized === undefined ? [] : [initialized]),
        ...[...(level === undefined ? [] : [level]), ...subscriptions.values()].map(replay),
      ];
    },
    announcedLists: () => (initialized === undefined ? [] : lists),
  };
}

const noted: ReadonlySet<string> = new Set([
  "initialize",
  "notifications/initialized",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);

/** Parses a line. Returns undefined if it is not a JSON object. */
export function readMessage(line: Buffer): JsonObject | undefined {
  return parseObject(line.toString("utf8"));
}
