import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Channel, RpcMessage } from "../../src/rpc/channel.ts";
import { type ClientStdioOptions, openClientStdio } from "../../src/serve/stdio-client.ts";
import { turn } from "../support/collected.ts";
import { failure } from "../support/memory-server.ts";
import { type Recorder, recorder } from "../support/recorder.ts";

interface OpenClient extends Disposable {
  readonly channel: Channel;
  readonly events: Recorder;
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** The size of each message that was delivered. */
  readonly sizes: number[];
  /** How often the channel said that it is closed. */
  readonly closings: () => number;
  /** The messages that the client got so far. */
  readonly written: () => unknown[];
  readonly write: (...messages: readonly (string | object)[]) => Promise<void>;
}

async function open(
  options: ClientStdioOptions = {},
  onMessage: (message: RpcMessage, channel: Channel) => void = () => undefined,
): Promise<OpenClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const events = recorder();
  const sizes: number[] = [];
  let closings = 0;
  let text = "";
  output.on("data", (chunk: Buffer) => {
    text += String(chunk);
  });
  const channel: Channel = await openClientStdio(
    { input, output },
    options,
  )({
    ...events,
    message(message, size) {
      sizes.push(size);
      onMessage(message, channel);
      return events.message(message, size);
    },
    closed(cause) {
      closings += 1;
      events.closed(cause);
    },
  });
  return {
    channel,
    events,
    input,
    output,
    sizes,
    closings: () => closings,
    written: () =>
      text
        .split("\n")
        .filter(Boolean)
        .map((line): unknown => JSON.parse(line)),
    async write(...messages) {
      for (const message of messages)
        input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
      await turn();
    },
    [Symbol.dispose]: () => void channel.close(),
  };
}

const request = (id: unknown, method = "x"): RpcMessage => ({ jsonrpc: "2.0", id, method });
const error = (id: unknown, code: number, message: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

describe("the lines of a client", () => {
  test("are delivered with their size in bytes, and blank lines are ignored", async () => {
    using client = await open();
    await client.write(request(1), "  ", "", '{"method":"ä"}');
    expect(client.events.messages).toEqual([request(1), { method: "ä" }]);
    expect(client.sizes).toEqual([JSON.stringify(request(1)).length, 15]);
    expect(client.written()).toEqual([]);
  });

  test("may be texts or bytes", async () => {
    using client = await open();
    client.input.setEncoding("utf8");
    await client.write({ method: "ä" });
    expect(client.events.messages).toEqual([{ method: "ä" }]);
  });

  test("may be batches, of which a hundred messages are read", async () => {
    using client = await open();
    const batch = Array.from({ length: 101 }, (_, at) => ({ method: "n", at }));
    await client.write(batch);
    expect(client.events.messages).toEqual(batch.slice(0, 100));
    expect(client.sizes[0]).toBe(JSON.stringify(batch).length);
  });

  test("that are no messages are refused in order, and the others are delivered", async () => {
    using client = await open();
    await client.write("{", "7", [1, { method: "n" }, null]);
    const notMessage = error(null, -32600, "the line on stdin is not a JSON-RPC message");
    expect(client.written()).toEqual([
      error(null, -32700, "the line on stdin is not JSON"),
      notMessage,
      notMessage,
      notMessage,
    ]);
    expect(client.events.messages).toEqual([{ method: "n" }]);
  });

  test("that are too long close the channel", async () => {
    using client = await open({ limits: { messageBytes: 300, unsentBytes: 1000 } });
    await client.write("x".repeat(301));
    expect(client.written()).toEqual([error(null, -32600, "the message is larger than 300 bytes")]);
    expect(await client.events.over).toBeUndefined();
  });

  test("are not delivered after the channel was closed, even within a batch", async () => {
    using client = await open({}, (_message, channel) => void channel.close());
    await client.write([{ method: "a" }, { method: "b" }]);
    expect(client.events.messages).toEqual([{ method: "a" }]);
    expect(client.written()).toEqual([]);
  });
});

test("a closed channel stops reading and removes its listeners", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const names = ["data", "end", "error"] as const;
  const counts = (): number[] => [...names.map((name) => input.listenerCount(name)), output.listenerCount("close")];
  const before = counts();
  let closings = 0;
  const channel = await openClientStdio({ input, output })({
    ...recorder(),
    closed() {
      closings += 1;
    },
  });
  expect(counts()).toEqual(before.map((count) => count + 1));
  expect(input.isPaused()).toBe(false);
  await channel.close();
  await channel.close();
  expect(counts()).toEqual(before);
  expect([input.isPaused(), closings]).toEqual([true, 1]);
  expect(channel.cancelBy).toBe("message");
});

describe("after the end of stdin", () => {
  test("the last line counts without a line end", async () => {
    using client = await open();
    client.input.end('{"method":"last"}');
    await client.events.over;
    expect(client.events.messages).toEqual([{ method: "last" }]);
    expect(client.closings()).toBe(1);
  });

  test("the channel stays open until every request has its response", async () => {
    using client = await open();
    await client.write(request(1), request("b"));
    client.input.end();
    await turn();
    await client.channel.send({ jsonrpc: "2.0", id: 1, result: {} });
    expect(client.closings()).toBe(0);
    await client.channel.send({ jsonrpc: "2.0", id: "b", result: {} });
    expect(client.closings()).toBe(1);
    expect(client.written()).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: "b", result: {} },
    ]);
  });

  test.each<[string, readonly object[]]>([
    ["a notification", [{ jsonrpc: "2.0", method: "n" }]],
    ["a subscription", [request(1, "subscriptions/listen")]],
    ["a request with an invalid id", [request(null), request({}), request(true)]],
    [
      "a cancelled request",
      [request(1), { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }],
    ],
    ["a response", [{ jsonrpc: "2.0", id: 1, result: {} }]],
  ])("%s does not keep the channel open", async (_, messages) => {
    using client = await open();
    await client.write(...messages);
    client.input.end();
    expect(await client.events.over).toBeUndefined();
    expect(client.events.messages).toEqual(messages);
  });

  test("a cancelled notification without parameters cancels nothing, nor does another notification", async () => {
    using client = await open();
    await client.write(
      request(1),
      { jsonrpc: "2.0", method: "notifications/cancelled", params: 1 },
      { jsonrpc: "2.0", method: "notifications/other", params: { requestId: 1 } },
    );
    client.input.end();
    await turn();
    expect(client.closings()).toBe(0);
  });

  test.each([
    ["lastAnswers", { lastAnswers: 1 }],
    ["times.send", { times: { send: 1 } }],
  ])("requests without a response keep the channel open only for %s", async (_, options) => {
    using client = await open(options);
    await client.write(request(1));
    client.input.end();
    expect(await client.events.over).toBeUndefined();
  });

  test("an error of stdin is an end, and a second end changes nothing", async () => {
    using client = await open();
    await client.channel.send(request(7, "roots/list"));
    await client.write(request(1));
    client.input.emit("error", new Error("broken"));
    client.input.emit("error", new Error("broken"));
    const message = "the client has closed stdin and cannot answer";
    expect(client.events.messages).toEqual([request(1), error(7, -32603, message)]);
    expect(client.sizes.at(-1)).toBe(message.length);
    expect(client.closings()).toBe(0);
  });

  test("only questions that the client has not answered fail", async () => {
    using client = await open();
    for (const id of [1, 2, 3]) await client.channel.send(request(id, "roots/list"));
    await client.channel.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
    await client.channel.send({ jsonrpc: "2.0", method: "n" });
    await client.write({ jsonrpc: "2.0", id: 1, result: {} });
    client.input.end();
    await client.events.over;
    expect(client.events.messages.map(({ id }) => id)).toEqual([1, 3]);
  });

  test("a new question fails at once and is not written", async () => {
    using client = await open();
    await client.write(request(1));
    client.input.end();
    await turn();
    const sent = client.channel.send(request(7, "roots/list"));
    expect(sent).toBeInstanceOf(Promise);
    await sent;
    await turn();
    expect(client.written()).toEqual([]);
    expect(client.events.messages.at(-1)).toEqual(error(7, -32603, "the client has closed stdin and cannot answer"));
    expect(client.closings()).toBe(0);
  });

  test("a response that cannot be written closes the channel if no error replaces it", async () => {
    using client = await open();
    await client.write(request(1));
    client.input.end();
    await turn();
    await failure(client.channel.send({ jsonrpc: "2.0", id: 1, result: { text: 1n } }));
    expect(await client.events.over).toBeUndefined();
  });

  test("a response that cannot be written may be replaced by an error before the channel closes", async () => {
    using client = await open();
    await client.write(request(1));
    client.input.end();
    await turn();
    const big = { jsonrpc: "2.0", id: 1, result: { text: 1n } };
    expect(await failure(client.channel.send(big))).toMatchObject({ code: "bad_message" });
    expect(client.closings()).toBe(0);
    await client.channel.send({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } });
    await client.events.over;
    expect(client.written()).toEqual([error(1, 1, "no")]);
  });
});

test("a client that reads no more ends the channel", async () => {
  using client = await open();
  client.output.destroy();
  await once(client.output, "close");
  expect(await client.events.over).toBeUndefined();
  expect(await failure(client.channel.send({ jsonrpc: "2.0", method: "n" }))).toMatchObject({
    code: "closed",
    message: "the client no longer reads this program's output",
  });
});

test.each([
  ["whose output is closed", (_: PassThrough, output: PassThrough) => output.destroy()],
  ["whose input is closed", (input: PassThrough) => input.destroy()],
  ["whose input was read to its end", (input: PassThrough) => input.resume().end()],
])("a client %s before its channel was opened is gone", async (_, leave) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  leave(input, output);
  await turn();
  const events = recorder();
  await openClientStdio({ input, output })(events);
  expect(await events.over).toBeUndefined();
});

test("a response that waits when the client leaves is lost at once, and keeps no timer", async () => {
  const input = new PassThrough();
  const output = new Writable({ write: () => undefined });
  const events = recorder();
  const channel = await openClientStdio({ input, output })(events);
  const lost = failure(channel.send({ jsonrpc: "2.0", id: 1, result: {} }));
  await turn();
  await channel.close();
  output.destroy();
  expect(await lost).toMatchObject({ code: "closed" });
});

describe("a client that reads slowly", () => {
  const large = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(5 * 1024 * 1024) } };
  const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

  /** A client that takes what is written only when the test says so. */
  async function openSlow() {
    const input = new PassThrough();
    const writes: string[] = [];
    const taking: (() => void)[] = [];
    const output = new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        writes.push(text);
        taking.push(done);
      },
    });
    const events = recorder();
    const channel = await openClientStdio({ input, output })(events);
    const take = async (): Promise<void> => {
      taking.shift()?.();
      await turn();
    };
    return { input, output, writes, events, channel, take };
  }

  test("gets no progress while megabytes wait, and its next requests are read after it has read them", async () => {
    const { input, writes, events, channel, take } = await openSlow();
    expect(channel.drained?.()).toBeUndefined();
    const sent = [channel.send(large), channel.send(progress), channel.send(changed)];
    await turn();
    expect(channel.drained?.()).toBeInstanceOf(Promise);
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "x" })}\n`);
    await turn();
    expect([input.isPaused(), events.messages]).toEqual([true, []]);
    await take();
    await take();
    await Promise.all(sent);
    await events.received(1);
    expect([channel.drained?.(), input.isPaused()]).toEqual([undefined, false]);
    expect(writes.join("")).toBe([large, changed].map((each) => `${JSON.stringify(each)}\n`).join(""));
    await channel.close();
  });

  test("is gone if its output closes before it has read everything", async () => {
    const { output, events, channel } = await openSlow();
    const lost = failure(channel.send(large));
    await turn();
    const drained = channel.drained?.();
    output.destroy();
    await drained;
    expect([await events.over, (await lost).code, channel.drained?.()]).toEqual([undefined, "closed", undefined]);
  });
});
