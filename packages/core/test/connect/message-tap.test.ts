import { expect, test } from "vitest";
import { MessageTap, type TappedMessage } from "../../src/connect/message-tap.ts";

test("a tap gives the messages to its listeners only, and hides secrets of the connection and of the host", () => {
  const tap = new MessageTap((text) => text.replaceAll("host-secret", "(hidden)"));
  const take = tap.connection("files", (text) => text.replaceAll("own-secret", "(hidden)"), false);
  take("sent", { id: 1, method: "unseen" }, undefined);
  const seen: TappedMessage[] = [];
  const stop = tap.on((message) => void seen.push(message));
  const { signal } = new AbortController();
  take("sent", { id: 2, method: "tools/call", params: { text: "own-secret and host-secret" } }, signal);
  stop();
  take("received", { id: 2, result: {} }, undefined);
  expect(seen).toHaveLength(1);
  const [message] = seen;
  expect(message).toMatchObject({ direction: "sent", connection: { server: "files" }, signal });
  expect(message?.connection.write("sent", message.message)).toBe(
    '{"id":2,"method":"tools/call","params":{"text":"(hidden) and (hidden)"}}',
  );
});

test("with hideResults, results are hidden, and lists are not", () => {
  const tap = new MessageTap((text) => text);
  const take = tap.connection("files", (text) => text, true);
  const seen: TappedMessage[] = [];
  tap.on((message) => void seen.push(message));
  take("received", { id: 1, result: { text: "private" } }, undefined);
  const [first] = seen;
  const { connection, message } = first ?? {};
  expect(message && connection?.write("received", message, "tools/call")).toBe('{"id":1,"result":{"text":"(hidden)"}}');
  expect(message && connection?.write("received", message, "tools/list")).toContain("private");
});
