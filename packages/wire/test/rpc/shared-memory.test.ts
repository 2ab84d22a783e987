import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { LargeMessages } from "../../src/rpc/large-messages.ts";
import { settledWithin } from "../../src/rpc/time.ts";
import type { Session } from "../../src/session.ts";
import type { Target } from "../../src/target.ts";
import { turn } from "../support/collected.ts";
import { clientInfo } from "../support/modern-session.ts";
import { type StoppedTime, stoppedTime } from "../support/simulated-time.ts";
import { script } from "../support/stdio-server.ts";
import { result, sendJson, startEvents, webServer } from "../support/web-server.ts";

const megabyte = 1024 * 1024;
/** A message with fewer bytes never waits. */
const smallestLarge = 128 * 1024;

/** Answers with so many bytes as a request asks for. Stops in the middle of a response, if it asks for that. */
const stopping = `
  const say = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n";
  let rest = "";
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (method === "notifications/go") process.stdout.write(rest);
    if (id === undefined) return;
    if (method === "initialize")
      return process.stdout.write(say({ id, result: { protocolVersion: "2025-11-25", capabilities: {} } }));
    const text = say({ id, result: { text: "x".repeat(params.bytes) } });
    const end = params.stopsAt ?? text.length;
    process.stdout.write(text.slice(0, end));
    rest = text.slice(end);
  });`;

/** The same server over HTTP. */
async function webTarget(kind: "json" | "events") {
  let finish: () => void = () => undefined;
  const server = await webServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params = {} } = JSON.parse(request.body);
    if (method === "notifications/go") finish();
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "initialize")
      return sendJson(response, result(request, { protocolVersion: "2025-11-25", capabilities: {} }));
    const json = result(request, { text: "x".repeat(params.bytes) });
    const text = kind === "json" ? json : `: comment\n\ndata: ${json}\n\n`;
    if (kind === "json") response.writeHead(200, { "content-type": "application/json" });
    else startEvents(response);
    if (params.stopsAt === undefined) return void response.end(text);
    response.write(text.slice(0, params.stopsAt));
    finish = () => void response.end(text.slice(params.stopsAt));
  });
  const target: Target = { kind: "http", url: server.url, headers: {} };
  return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function targetOf(kind: "stdio" | "json" | "events") {
  if (kind !== "stdio") return webTarget(kind);
  return { target: script(stopping), [Symbol.asyncDispose]: async () => undefined };
}

/** Resolves when a message waits for another: only then does a timer run. Fails if the result arrives without waiting. */
async function waits(time: StoppedTime, result: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  result.then(end, end);
  onTestFinished(end);
  while (time.left().length === 0 && !over.signal.aborted) await turn();
  expect(over.signal.aborted).toBe(false);
}

const lengthOf = async (session: Session, params: { readonly bytes: number; readonly stopsAt?: number }) =>
  String((await session.request("x", params))["text"]).length;

test.each(["stdio", "json", "events"] as const)(
  "a server that stops in the middle of a large result delays others only for a while, and small results not at all (%s)",
  async (kind) => {
    const time = stoppedTime();
    const options = { clientInfo, era: "legacy" as const, largeMessages: new LargeMessages({ limit: megabyte, time }) };
    await using server = await targetOf(kind);
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => connect(server.target, options)));
    if (!first || !second || !third) throw new Error("not connected");
    const stopped = lengthOf(first, { bytes: 4 * megabyte, stopsAt: 3 * megabyte });
    // The stopped server's part fills the limit before the second one's response begins.
    while (options.largeMessages.bytes < 2 * megabyte) await turn();
    let isComplete = false;
    const waiting = lengthOf(second, { bytes: 4 * megabyte }).finally(() => {
      isComplete = true;
    });
    await waits(time, waiting);
    expect(await lengthOf(third, { bytes: 100_000 })).toBe(100_000);
    expect(isComplete).toBe(false);
    time.advance(2000);
    expect(await waiting).toBe(4 * megabyte);
    await first.notify("notifications/go");
    expect(await stopped).toBe(4 * megabyte);
    await turn();
    expect(options.largeMessages.bytes).toBe(0);
    await Promise.all([first, second, third].map((session) => session.close()));
  },
);

test.each(["stdio", "json", "events"] as const)(
  "a closed connection no longer delays the large results of others (%s)",
  async (kind) => {
    const time = stoppedTime();
    const options = { clientInfo, era: "legacy" as const, largeMessages: new LargeMessages({ limit: megabyte, time }) };
    await using server = await targetOf(kind);
    const [first, second] = await Promise.all([1, 2].map(() => connect(server.target, options)));
    if (!first || !second) throw new Error("not connected");
    const stopped = lengthOf(first, { bytes: 4 * megabyte, stopsAt: 3 * megabyte }).catch(() => "closed");
    while (options.largeMessages.bytes < 2 * megabyte) await turn();
    const waiting = lengthOf(second, { bytes: 4 * megabyte });
    await waits(time, waiting);
    await first.close();
    expect(await stopped).toBe("closed");
    expect(await waiting).toBe(4 * megabyte);
    await turn();
    expect(options.largeMessages.bytes).toBe(0);
    await second.close();
  },
);

test("the part of a large result that may not be read in the same turn counts at once, and waits for others", async () => {
  const time = stoppedTime();
  const largeMessages = new LargeMessages({ limit: megabyte, time });
  const other = largeMessages.begin();
  other.hold(megabyte);
  // With the response to `initialize`, the last chunk before the stop is above the limit of a turn.
  const options = { clientInfo, era: "legacy" as const, largeMessages, limits: { turnBytes: smallestLarge } };
  const session = await connect(script(stopping), options);
  const waiting = lengthOf(session, { bytes: 2 * megabyte, stopsAt: smallestLarge });
  await waits(time, waiting);
  expect(largeMessages.bytes).toBe(megabyte + smallestLarge);
  await session.notify("notifications/go");
  other.release();
  expect(await waiting).toBe(2 * megabyte);
  await turn();
  expect(largeMessages.bytes).toBe(0);
  await session.close();
});

test("the result of a server that exits while it waits arrives complete", async () => {
  const time = stoppedTime();
  const largeMessages = new LargeMessages({ limit: megabyte, time });
  const other = largeMessages.begin();
  other.hold(megabyte);
  const exiting = stopping.replace("process.stdout.write(rest)", 'process.stdout.write("", () => process.exit())');
  const session = await connect(script(exiting), {
    clientInfo,
    era: "legacy",
    largeMessages,
    times: { endGrace: 1000 },
  });
  const waiting = lengthOf(session, { bytes: 1.1 * megabyte });
  await waits(time, waiting);
  await session.notify("notifications/go");
  // Without a wait for its turn, the rest of the output would be given up after `endGrace`.
  expect(await settledWithin(session.closed, 1500)).toBe(false);
  other.release();
  expect(await waiting).toBe(Math.floor(1.1 * megabyte));
  expect(await session.closed).toMatchObject({ code: "exited" });
  // The search for processes that the server has left goes on for a moment after its exit.
  await session.close();
});
