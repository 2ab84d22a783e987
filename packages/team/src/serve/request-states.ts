/**
 * The `requestState` of modern clients, encrypted and bound to the user, the client, the method and the parameters of the
 * request (all in `identity`). Any replica opens it. One with a person's approval can be opened once.
 */

import { randomUUID } from "node:crypto";
import type { RequestStates, StoredState } from "@fairlead/gateway/questions/approval-store";
import { isObject, parseJson, stringOf } from "@fairlead/wire/json";
import type { ConsumedStore } from "../store/consumed.ts";
import { decryptToken, encryptToken } from "../store/encryption.ts";
import type { KeyRing } from "../store/key-ring.ts";
import type { MessageStore } from "../store/messages.ts";

export interface EncryptedStatesOptions {
  readonly ring: KeyRing;
  readonly consumed: ConsumedStore;
  readonly messages: MessageStore;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/** Milliseconds for which a state is valid. */
const lifetime = 600_000;
/** A longer state of a server is stored, and the client gets only its id. Characters. */
const longestState = 12_000;
const prefix = "k2.";

interface StateContent {
  readonly id: string;
  readonly until: number;
  readonly subject?: string | undefined;
  readonly state?: string | undefined;
  /** Whether `state` is in the store, at the address of the id. */
  readonly isStored?: boolean;
}

export class EncryptedStates implements RequestStates {
  readonly includesServers = true;
  readonly #options: EncryptedStatesOptions;

  constructor(options: EncryptedStatesOptions) {
    this.#options = options;
  }

  isOwn(requestState: unknown): requestState is string {
    return typeof requestState === "string" && requestState.startsWith(prefix);
  }

  async store(identity: string, { subject, state }: StoredState): Promise<string> {
    const { ring, messages, now } = this.#options;
    const content = { id: randomUUID(), until: now() + lifetime, subject };
    const isStored = state !== undefined && state.length > longestState;
    if (isStored) await messages.send(addressOf(content.id), { text: state, until: content.until });
    const text = JSON.stringify(isStored ? { ...content, isStored } : { ...content, state });
    return encryptToken(ring, "request-state", [identity], text);
  }

  async take(requestState: string, identity: string): Promise<StoredState | undefined> {
    const { ring, consumed, messages, now } = this.#options;
    const text = decryptToken(ring, "request-state", [identity], requestState);
    const content = text === undefined ? undefined : readState(text);
    if (content === undefined || content.until < now()) return undefined;
    // What a person has approved counts once. Without an approval, the server decides what it accepts twice.
    if (content.subject !== undefined && !(await consumed.consume(content.id, content.until))) return undefined;
    if (content.isStored !== true) return { subject: content.subject, state: content.state };
    const [stored] = await messages.list([addressOf(content.id)]);
    return stored && { subject: content.subject, state: stored.text };
  }
}

function addressOf(id: string): string {
  return `state ${id}`;
}

/** Only a replica can have written it, but perhaps one of another version. */
function readState(text: string): StateContent | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { until } = value;
  const id = stringOf(value["id"]);
  if (id === undefined || typeof until !== "number") return undefined;
  return {
    id,
    until,
    subject: stringOf(value["subject"]),
    state: stringOf(value["state"]),
    isStored: value["isStored"] === true,
  };
}
