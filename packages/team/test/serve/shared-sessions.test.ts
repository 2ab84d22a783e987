/** What one replica tells the others of a legacy session, and when its client gets an answer. */

import { randomBytes } from "node:crypto";
import { systemClock } from "@fairlead/core";
import type { HttpListener } from "@fairlead/wire/serve";
import { expect, it } from "vitest";
import { SharedSessions } from "../../src/serve/shared-sessions.ts";
import type { Hints, HintTopic } from "../../src/store/hints.ts";
import { KeyRing } from "../../src/store/key-ring.ts";
import type { MessageStore, NewMessage, StoredMessage } from "../../src/store/messages.ts";

/** Hints that are on their way until they are delivered. */
class SlowHints implements Hints {
  readonly #listeners = new Set<(id: string | undefined) => void>();

  send(_topic: HintTopic, _id: string): void {
    throw new Error("only the store sends hints here");
  }

  listen(_: HintTopic, onHint: (id: string | undefined) => void): () => void {
    this.#listeners.add(onHint);
    queueMicrotask(() => onHint(undefined));
    return () => this.#listeners.delete(onHint);
  }

  deliver(): void {
    for (const listener of this.#listeners) listener(undefined);
  }
}

class Messages implements MessageStore {
  readonly #messages: StoredMessage[] = [];
  onSend: () => void = () => undefined;

  async send(address: string, { text }: NewMessage): Promise<void> {
    this.#messages.push({ address, number: this.#messages.length, text });
    this.onSend();
  }

  async list(addresses: readonly string[]): Promise<readonly StoredMessage[]> {
    return this.#messages.filter(({ address }) => addresses.includes(address));
  }
}

const context = { workspace: { principal: { tenant: 1, id: "iss#ada", groups: [] } }, client: { name: "c" } };
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };

it("answers the end of a session when the other replicas are told, and they have read it before their next request", async () => {
  const [hints, messages] = [new SlowHints(), new Messages()];
  const ring = KeyRing.parse(`k1 ${randomBytes(32).toString("base64")}`, "keys");
  const open = (process: string): SharedSessions =>
    new SharedSessions({
      process,
      ring,
      messages,
      hints,
      clock: systemClock,
      log: () => undefined,
      now: Date.now,
    });
  using one = open("one");
  using two = open("two");
  const ended: string[] = [];
  two.serve({ has: () => true, end: (id: string) => void ended.push(id) } as unknown as HttpListener);
  const endpoint = context as unknown as Parameters<SharedSessions["idOf"]>[0];
  const id = one.idOf(endpoint, initialize);
  expect(await two.messagesOf(endpoint, id)).toHaveLength(2);
  const stored = new Promise<void>((resolve) => {
    messages.onSend = resolve;
  });
  let isAnswered = false;
  const answered = one.ended(endpoint, id).then(() => {
    isAnswered = true;
  });
  await stored;
  await new Promise((resolve) => setImmediate(resolve));
  expect(isAnswered).toBe(false);
  expect(two.caughtUp(id)).toBeUndefined();
  hints.deliver();
  const reading = two.caughtUp(id);
  expect(reading).toBeDefined();
  await reading;
  expect(ended).toEqual([id]);
  expect(two.caughtUp(id)).toBeUndefined();
  await answered;
});
