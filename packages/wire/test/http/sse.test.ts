import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { openSse } from "../../src/http/sse.ts";
import type { Channel } from "../../src/rpc/channel.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { type Recorder, recorder } from "../support/recorder.ts";
import { result, startEvents, type WebServer, webServer } from "../support/web-server.ts";

async function open(
  server: WebServer,
  signal = new AbortController().signal,
): Promise<{ channel: Channel; events: Recorder }> {
  const events = recorder();
  const target = { kind: "sse", url: `${server.url}/sse`, headers: { "X-Key": "k" } } as const;
  const channel = await openSse(target, { limits: defaultLimits, times: defaultTimes, proxyFor: () => undefined })(
    events,
    signal,
  );
  return { channel, events };
}

/** A server of the older kind: a stream, and an address for messages whose answers go to the stream. */
function sseServer(endpoint: string): Promise<WebServer> {
  const streams: { write(text: string): unknown; end(): unknown }[] = [];
  return webServer((request, response) => {
    if (request.method === "GET") {
      startEvents(response);
      streams.push(response);
      return void response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    }
    if (!request.body.includes('"unacknowledged"')) response.writeHead(202).end("Accepted");
    for (const stream of streams) {
      if (request.body.includes('"bye"')) stream.end();
      else stream.write(`event: message\ndata: ${result(request, {})}\n\n`);
    }
  });
}

test("messages go to the address the stream names, answers come over the stream", async () => {
  await using server = await sseServer("/messages?session=1");
  const { channel, events } = await open(server);
  await channel.send({ jsonrpc: "2.0", id: 1, method: "initialize" });
  await events.received(1);
  expect(events.messages).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  expect(server.seen[1]).toMatchObject({ path: "/messages?session=1", headers: { "x-key": "k" } });
  await channel.close();
  expect(await events.over).toBeUndefined();
});

test("a message whose answer came before it was acknowledged is not sent again after the end", async () => {
  await using server = await sseServer("/messages");
  const { channel, events } = await open(server);
  // They leave a connection that is kept.
  for (const id of [1, 2, 3]) {
    await channel.send({ jsonrpc: "2.0", id, method: "ping" });
    await events.received(id);
  }
  const sending = channel.send({ jsonrpc: "2.0", id: 4, method: "unacknowledged" });
  await events.received(4);
  await channel.close();
  await expect(sending).rejects.toMatchObject({ code: "unreachable" });
  expect(server.seen.filter(({ body }) => body.includes("unacknowledged"))).toHaveLength(1);
});

test("a stream that ends is the end of the connection", async () => {
  await using server = await sseServer("/messages");
  const { channel, events } = await open(server);
  await channel.send({ jsonrpc: "2.0", id: 1, method: "bye" });
  expect((await events.over)?.code).toBe("stream_lost");
});

test("an address on another origin is refused: headers would go there", async () => {
  await using other = await webServer((_request, response) => void response.end());
  await using server = await sseServer(`${other.url}/messages`);
  await expect(open(server)).rejects.toMatchObject({ code: "bad_message" });
  expect(other.seen).toEqual([]);
});

test("a server that never names an address does not hold up the caller who gives up", async () => {
  const abort = new AbortController();
  await using server = await webServer((_request, response) => {
    startEvents(response);
    response.write(": hello\n\n", () => abort.abort());
  });
  await expect(open(server, abort.signal)).rejects.toBeInstanceOf(WireError);
});

test.each([
  [404, "text/plain", "http_status"],
  [200, "text/html", "bad_message"],
] as const)("an answer of %s %s is no stream", async (status, type, code) => {
  await using server = await webServer(
    (_request, response) => void response.writeHead(status, { "content-type": type }).end("no"),
  );
  await expect(open(server)).rejects.toMatchObject({ code, evidence: { httpStatus: status, firstBytes: "no" } });
});
