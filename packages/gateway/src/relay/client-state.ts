/** The client messages that a relay must repeat to a new host: `initialize`, the log level and the subscriptions. */

import type { JsonObject } from "@fairlead/wire";
import { member, parseObject } from "@fairlead/wire/json";

/**
 * A client's request that the relay repeats to a new host. The relay does not pass the response on, because the client
 * already has one.
 */
export interface ReplayedRequest {
  readonly id: string;
  readonly line: string;
}

export interface ClientState {
  /** Records a request or notification of the client. */
  note(method: string, line: Buffer): void;
  /** Records the host's response to the client's `initialize`. */
  greeted(line: Buffer): void;
  /**
   * Returns the client's `initialize` request, so that the relay can send it to a new host. Returns undefined if the
   * client has sent none, or if the request has no response yet.
   */
  greeting(): ReplayedRequest | undefined;
  /** Returns the other lines that a new host needs, in the order in which they must be sent. */
  afterGreeting(): readonly (ReplayedRequest | string)[];
  /** Returns the names of the lists (such as `tools`) for which the client gets `list_changed` notifications. */
  announcedLists(): readonly string[];
}

/** The beginning of the ids of repeated requests. It differs from the ids of clients. */
const replayedId = "fairlead-relay:";

/** Whether a response belongs to a repeated request. */
export function isReplayed(id: string): boolean {
  return id.startsWith(`"${replayedId}`);
}

export function createClientState(): ClientState {
  let initialize: JsonObject | undefined;
  let isGreeted = false;
  let initialized: string | undefined;
  let level: JsonObject | undefined;
  let lists: readonly string[] = [];
  const subscriptions = new Map<string, JsonObject>();
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

/** Parses the message in a line. Returns undefined if it is not an object. */
export function readMessage(line: Buffer): JsonObject | undefined {
  return parseObject(line.toString("utf8"));
}
