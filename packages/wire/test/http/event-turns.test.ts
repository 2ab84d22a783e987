import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { readEvents } from "../../src/http/event-stream.ts";
import { createReadBudget, lineCost } from "../../src/rpc/read-budget.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { answer, legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { clientInfo } from "../support/modern-session.ts";
import { startEvents, webServer } from "../support/web-server.ts";

const notification = { jsonrpc: "2.0", method: "notifications/x" };

test.each(["\n", "\r", "\r\n"])("a chunk of many events is read in turns, whatever its line ends: %j", async (end) => {
  const budget = createReadBudget({
    limits: { ...defaultLimits, turnLines: 128 },
    times: defaultTimes,
    onFlooding: () => undefined,
  });
  const text = `data: 1${end}${end}`.repeat(2000);
  let events = 0;
  let before = 0;
  let most = 0;
  let isOver = false;
  const count = (): void => {
    most = Math.max(most, events - before);
    before = events;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await readEvents(
    Readable.from([Buffer.from(text)]),
    { maxBytes: 1000, budget },
    {
      event() {
        events += 1;
      },
      retry: () => undefined,
    },
  );
  isOver = true;
  expect(events).toBe(2000);
  expect(most).toBeLessThanOrEqual(256);
});

/** So little that a test's flood is over it at once. */
const little = {
  limits: { unsolicitedBurst: 100 * lineCost, unsolicitedRate: 10 * lineCost },
  times: { flood: 0 },
};

test.each([
  ["blank lines and comments in its event stream", ":\n"],
  ["blank lines and comments in its event stream", "\n"],
  ["events that are not messages", "data: {\n\n"],
  ["events that are not messages", "event: other\ndata: 1\n\n"],
  ["notifications", `data: ${JSON.stringify(notification)}\n\n`],
])("a GET stream full of %s ends the session as flooding: %j", async (what, text) => {
  await using server = await legacyWeb({
    onGet(response) {
      startEvents(response);
      response.write(text.repeat(5000));
    },
  });
  const session = await openLegacy(server, little);
  expect(await session.closed).toMatchObject({
    code: "flooding",
    message: `the server sent too many ${what}: more than 10 per second for 0 s`,
  });
  await session.close();
});

test("the older transport's stream, too", async () => {
  await using server = await webServer((request, response) => {
    if (request.method !== "GET") return void response.writeHead(202).end();
    startEvents(response);
    response.write("event: endpoint\ndata: /post\n\n");
    response.write(":\n".repeat(5000));
  });
  const target = { kind: "sse", url: `${server.url}/sse`, headers: {} } as const;
  const opening = connect(target, { clientInfo, proxyFor: () => undefined, ...little });
  await expect(opening).rejects.toMatchObject({ code: "flooding" });
});

test("an answer in a stream is not cut off by its own size, and a page over its limit is refused", async () => {
  const text = "x".repeat(300_000);
  await using server = await legacyWeb({ onPost: (message, response) => answer(response, message, { text }) });
  const session = await openLegacy(server, little);
  const sizes: number[] = [];
  expect(await session.request("x", {}, { onSize: (size) => sizes.push(size) })).toEqual({ text });
  expect(sizes[0]).toBeGreaterThan(300_000);
  await expect(session.request("x", {}, { maxBytes: 100_000 })).rejects.toMatchObject({ code: "too_large" });
  expect(await session.request("x")).toEqual({ text });
  await session.close();
});
