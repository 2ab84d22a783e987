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

/** Ids of repeated requests begin with this text. Clients do not use such ids. */
const replayedId = "fairlead-relay:";

/** Whether a response answers a repeated request. `id`: as JSON text. */
export function isReplayed(id: string): boolean {
  return id.startsWith(`"${replayedId}`);
}

/**
 * Maximum size of the names for a new host, in bytes. With more, a host would refuse the relay's first line. Several
 * servers together could list so many; names that were seen before them stay.
 */
const mostNameBytes = 24 * 1024 * 1024;

/** The state of one client, as far as a new host needs it. It is empty until the client sends `initialize`. */
export class ClientState {
  #initialize: JsonObject | undefined;
  #isGreeted = false;
  #initialized: string | undefined;
  #level: JsonObject | undefined;
  #lists: readonly string[] = [];
  readonly #subscriptions = new Map<string, JsonObject>();
  readonly #names: RelayName[] = [];
  #nameBytes = 0;
  #count = 0;

  /** Call this for each message of the client. Ignores messages that a new host does not need. */
  note(method: string, line: Buffer): void {
    if (!noted.has(method)) return;
    const message = readMessage(line);
    if (message === undefined) return;
    const uri = member(message["params"], "uri");
    if (method === "initialize") {
      this.#initialize = message;
      this.#isGreeted = false;
    } else if (method === "notifications/initialized") this.#initialized = `${JSON.stringify(message)}\n`;
    else if (method === "logging/setLevel") this.#level = message;
    else if (typeof uri !== "string") return;
    else if (method === "resources/subscribe") this.#subscriptions.set(uri, message);
    else this.#subscriptions.delete(uri);
  }

  /** Call this for the names that the host is about to show to the client. */
  seen(names: readonly RelayName[]): void {
    for (const name of names) {
      this.#nameBytes += Buffer.byteLength(JSON.stringify(name));
      if (this.#nameBytes <= mostNameBytes) this.#names.push(name);
    }
  }

  /** Returns the names that the client has seen. If they are very many, returns the oldest of them. */
  names(): readonly RelayName[] {
    return this.#names;
  }

  /** Call this for the host's response to `initialize`. */
  greeted(line: Buffer): void {
    const capabilities = member(member(readMessage(line), "result"), "capabilities");
    this.#isGreeted = capabilities !== undefined;
    this.#lists = ["tools", "prompts", "resources"].filter(
      (list) => member(member(capabilities, list), "listChanged") === true,
    );
  }

  /** Returns the `initialize` request for a new host. Undefined if no host has accepted one yet. */
  greeting(): ReplayedRequest | undefined {
    return this.#isGreeted && this.#initialize !== undefined ? this.#replay(this.#initialize) : undefined;
  }

  /** Returns the other lines for a new host, in the order in which they must be sent. */
  afterGreeting(): readonly (ReplayedRequest | string)[] {
    if (!this.#isGreeted) return [];
    const requests = [...(this.#level === undefined ? [] : [this.#level]), ...this.#subscriptions.values()];
    return [
      ...(this.#initialized === undefined ? [] : [this.#initialized]),
      ...requests.map((each) => this.#replay(each)),
    ];
  }

  /** Returns the lists, such as `tools`, for which the client expects `list_changed`. */
  announcedLists(): readonly string[] {
    return this.#initialized === undefined ? [] : this.#lists;
  }

  #replay(message: JsonObject): ReplayedRequest {
    this.#count += 1;
    const id = `${replayedId}${this.#count}`;
    return { id: JSON.stringify(id), line: `${JSON.stringify({ ...message, id })}\n` };
  }
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
