/** What one replica tells the others of a legacy session. */

import { randomBytes } from "node:crypto";
import type { HttpListener } from "@fairlead/wire/serve";
import { expect, it } from "vitest";
import { SharedSessions } from "../../src/serve/shared-sessions.ts";
import type { Hints } from "../../src/store/hints.ts";
import { KeyRing } from "../../src/store/key-ring.ts";
import type { MessageStore, NewMessage, StoredMessage } from "../../src/store/messages.ts";

const silentHints: Hints = { send: () => undefined, listen: () => () => undefined };

class Messages implements MessageStore {
  readonly #messages: StoredMessage[] = [];
  reads = 0;

  async send(address: string, { text }: NewMessage): Promise<void> {
    this.#messages.push({ address, number: this.#messages.length, text });
  }

  async list(addresses: readonly string[]): Promise<readonly StoredMessage[]> {
    this.reads += 1;
    return this.#messages.filter(({ address }) => addresses.includes(address));
  }
}

const context = { workspace: { principal: { tenant: 1, id: "iss#ada", groups: [] } }, client: { name: "c" } };
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };

it("finds a session ended that a client has ended at another replica, although no hint has come", async () => {
  const messages = new Messages();
  const ring = KeyRing.parse(`k1 ${randomBytes(32).toString("base64")}`, "keys");
  const open = (process: string): SharedSessions =>
    new SharedSessions({ process, ring, messages, hints: silentHints, log: () => undefined, now: Date.now });
  using one = open("one");
  using two = open("two");
  const ended: string[] = [];
  two.serve({ has: () => true, end: (id: string) => void ended.push(id) } as unknown as HttpListener);
  const endpoint = context as unknown as Parameters<SharedSessions["idOf"]>[0];
  const id = one.idOf(endpoint, initialize);
  expect(await two.messagesOf(endpoint, id)).toHaveLength(2);
  await two.caughtUp(id);
  expect(ended).toEqual([]);
  await one.ended(endpoint, id);
  await two.caughtUp(id);
  expect(ended).toEqual([id]);
  expect(await two.messagesOf(endpoint, id)).toBeUndefined();
});

it("reads the news of many sessions at once while another reading runs", async () => {
  const messages = new Messages();
  const ring = KeyRing.parse(`k1 ${randomBytes(32).toString("base64")}`, "keys");
  const options = { process: "one", ring, messages, hints: silentHints, log: () => undefined, now: Date.now };
  using one = new SharedSessions(options);
  const endpoint = context as unknown as Parameters<SharedSessions["idOf"]>[0];
  const ids = Array.from({ length: 50 }, () => one.idOf(endpoint, initialize));
  messages.reads = 0;
  const first = one.caughtUp(ids[0] ?? "");
  await Promise.resolve();
  await Promise.all([first, ...ids.map((id) => one.caughtUp(id))]);
  expect(messages.reads).toBe(2);
  expect(one.caughtUp("unknown")).toBeUndefined();
});
