import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { type ServedClient, type ServedSession, serveClient } from "../../src/serve/served-session.ts";
import { openClientStdio } from "../../src/serve/stdio-client.ts";

/** A client on two pipes: what it writes, and the messages that it got. */
function pipes(create: (client: ServedClient) => ServedSession) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = serveClient(openClientStdio({ input, output }, { lastAnswers: Number.POSITIVE_INFINITY }), create);
  const waiting: ((message: unknown) => void)[] = [];
  const received: unknown[] = [];
  output.on("data", (chunk: Buffer) => {
    for (const line of String(chunk).trim().split("\n")) {
      const message: unknown = JSON.parse(line);
      const next = waiting.shift();
      if (next) next(message);
      else received.push(message);
    }
  });
  return {
    client,
    write: (...messages: readonly (object | string)[]) =>
      void input.write(messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("")),
    end: () => void input.end(),
    close: () => void output.destroy(),
    next: () => (received.length > 0 ? received.shift() : new Promise((resolve) => waiting.push(resolve))),
  };
}

const request = (id: number, method: string, params = {}) => ({ jsonrpc: "2.0", id, method, params });

test("requests are answered, and a handler's error is the error of its request", async () => {
  const { write, next, end, client } = pipes(() => ({
    async request(method, params) {
      if (method === "bad") throw new Error("no");
      return { method, params };
    },
  }));
  write(request(3, "ping"));
  expect(await next()).toEqual({ jsonrpc: "2.0", id: 3, result: {} });
  write(request(1, "one", { a: 1 }), request(2, "bad"));
  expect(await next()).toEqual({ jsonrpc: "2.0", id: 1, result: { method: "one", params: { a: 1 } } });
  expect(await next()).toMatchObject({ id: 2, error: { code: -32603, message: "no" } });
  end();
  expect(await client.closed).toBeUndefined();
});

test("a client that closes its end at once still gets its answers", async () => {
  let answer: () => void = () => {};
  const { write, next, end, client } = pipes(() => ({
    request: () => new Promise((resolve) => (answer = () => resolve({ late: true }))),
  }));
  write(request(1, "slow"));
  end();
  setImmediate(() => setImmediate(() => answer()));
  expect(await next()).toMatchObject({ id: 1, result: { late: true } });
  await client.closed;
});

test("a client that closes its end can answer no questions, and is not waited for because of a subscription", async () => {
  const { write, next, end, client } = pipes((one) => ({
    async request(method) {
      if (method === "subscriptions/listen") return new Promise(() => {});
      const ask = (): Promise<string> => one.request("roots/list").then(String, String);
      return { answers: [await ask(), await ask()] };
    },
  }));
  write(request(1, "subscriptions/listen"), request(2, "ask"));
  expect(await next()).toMatchObject({ method: "roots/list" });
  end();
  const cannot = expect.stringContaining("the client has closed stdin and cannot answer");
  expect(await next()).toMatchObject({ id: 2, result: { answers: [cannot, cannot] } });
  await client.closed;
});

test("a client that reads no more is gone, whatever is open", async () => {
  const { write, end, client, close } = pipes(() => ({ request: () => new Promise(() => {}) }));
  write(request(1, "slow"));
  end();
  close();
  expect(await client.closed).toBeUndefined();
});

test("a response that cannot be written does not keep a client open that has closed its end", async () => {
  const input = new PassThrough();
  const output = new Writable({ write() {} });
  const options = { times: { send: 10 }, lastAnswers: Number.POSITIVE_INFINITY };
  const client = serveClient(openClientStdio({ input, output }, options), () => ({
    request: () => once(input, "end").then(() => ({})),
  }));
  input.end(`${JSON.stringify(request(1, "x"))}\n`);
  expect(await client.closed).toBeUndefined();
});

test("a message that the client has not read fails when the client goes away", async () => {
  const input = new PassThrough();
  // Takes the first message, and is never ready for another one.
  const output = new Writable({ write: () => void output.emit("taken") });
  const failed = new Promise<string>((resolve) => {
    serveClient(openClientStdio({ input, output }), (one) => ({
      async request() {
        resolve(await one.notify("notifications/message").then(String, String));
        return {};
      },
    }));
  });
  input.write(`${JSON.stringify(request(1, "x"))}\n`);
  await once(output, "taken");
  output.destroy();
  expect(await failed).toContain("the client no longer reads this program's output");
});

test("the server asks the client during a request, and notifies it", async () => {
  const { write, next, end, client } = pipes((one) => ({
    async request() {
      await one.notify("notifications/message", { data: "asking" });
      return { got: await one.request("roots/list") };
    },
  }));
  write(request(1, "ask"));
  expect(await next()).toMatchObject({ method: "notifications/message" });
  expect(await next()).toMatchObject({ method: "roots/list", id: 1 });
  write({ jsonrpc: "2.0", id: 1, result: { roots: [] } });
  expect(await next()).toMatchObject({ id: 1, result: { got: { roots: [] } } });
  end();
  await client.closed;
});

test("a cancelled request gets no answer, and its handler is told", async () => {
  const cancelled: unknown[] = [];
  const { write, next, end, client } = pipes(() => ({
    async request(method, _params, { signal }) {
      if (method === "ok") return {};
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      cancelled.push(method);
      return {};
    },
  }));
  write(request(1, "wait"), { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  write(request(2, "ok"));
  expect(await next()).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
  expect(cancelled).toEqual(["wait"]);
  end();
  await client.closed;
});

test("lines that are no messages are answered as JSON-RPC says", async () => {
  const { write, next, end, client } = pipes(() => ({ request: async () => ({}) }));
  write("not json", "", "3");
  expect(await next()).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32700, message: "the line on stdin is not JSON" },
  });
  expect(await next()).toMatchObject({ id: null, error: { code: -32600 } });
  end();
  await client.closed;
});
