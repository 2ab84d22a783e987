/** Real servers on the web that forget, fall silent or have no time, and a host that stays. */

import { behaves, status, type WebReply, webServer } from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createEmitter, type ServerState } from "../../src/events.ts";
import type { ConnectionOptions } from "../../src/server/connection.ts";
import { manualClock } from "../support/manual-clock.ts";
import { Fleet } from "./fleet.ts";

/** What a server does now; a test may change it. */
async function testHarbour(reply: WebReply) {
  let now = reply;
  const server = await webServer((request, response) => now(request, response));
  const clock = manualClock();
  const { on, emit } = createEmitter();
  const open: ConnectionOptions["open"] = ({ signal, onNotification }) =>
    connect(
      { kind: "http", url: `${server.origin}/mcp`, headers: {} },
      { clientInfo: { name: "test", version: "1" }, proxyFor: () => undefined, signal, onNotification },
    );
  const fleet = new Fleet(
    { web: { open } },
    {
      recover: true,
      clock,
      random: () => 0.5,
      now: () => Date.parse("2026-11-16T00:00:00Z"),
      onState: (state) => emit({ type: "state", state }),
    },
  );
  return {
    server,
    clock,
    client: fleet.get("web"),
    fleet,
    become: (other: WebReply) => {
      now = other;
    },
    next: (isIt: (state: ServerState) => boolean) =>
      new Promise<ServerState>((resolve) => {
        const stop = on("state", ({ state }) => {
          if (!isIt(state)) return;
          stop();
          resolve(state);
        });
      }),
    async [Symbol.asyncDispose]() {
      await fleet.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

const isUp = (state: ServerState): boolean => state.status === "connected" && state.offer !== undefined;
const isWaiting = (state: ServerState): boolean => state.status === "disconnected" && state.reason === "backoff";

/** Opens sessions of its own, and knows only those it opened. */
function forgetful(name: string): WebReply {
  return (request, response) => {
    const isFirst = request.body.includes('"initialize"');
    if (isFirst) response.setHeader("mcp-session-id", name);
    const isKnown = isFirst || request.body.includes("server/discover") || request.headers["mcp-session-id"] === name;
    if (isKnown) behaves(request, response);
    else response.writeHead(404).end();
  };
}

test("a server that forgot the session gets a new one at once; the call that found out was not done", async () => {
  await using harbour = await testHarbour(forgetful("one"));
  const { fleet, server } = harbour;
  const client = await fleet.ready("web");
  harbour.become(forgetful("two"));
  const sent = server.seen.length;
  await expect(client.callTool("echo", { text: "?" })).rejects.toMatchObject({
    code: "unreachable",
    message: "web.echo: the session has expired: the server no longer knows its id",
  });
  const again = await fleet.ready("web");
  expect(await again.callTool("echo", { text: "again" })).toMatchObject({ content: [{ text: "again" }] });
  const calls = server.seen.slice(sent).filter(({ body }) => body.includes("tools/call"));
  expect(calls.map(({ headers }) => headers["mcp-session-id"])).toEqual(["one", "two"]);
});

test("a session that is found forgotten while no call is open is replaced, too", async () => {
  await using harbour = await testHarbour(forgetful("one"));
  const client = await harbour.fleet.ready("web");
  harbour.become(forgetful("two"));
  const up = harbour.next(isUp);
  await client.check();
  await up;
  expect(harbour.server.seen.at(-1)?.headers).toMatchObject({ "mcp-session-id": "two" });
});

test("a server that is gone is found out by the next call, and is back when it is back", async () => {
  await using harbour = await testHarbour(behaves);
  const { fleet, clock } = harbour;
  const client = await fleet.ready("web");
  harbour.become((_request, response) => void response.destroy());
  const waiting = harbour.next(isWaiting);
  await expect(client.callTool("echo", { text: "?" })).rejects.toMatchObject({ code: "lost" });
  expect(await waiting).toMatchObject({
    because: { reason: "unreachable", message: expect.stringContaining('"web" does not respond') },
  });
  const stillWaiting = harbour.next(isWaiting);
  await clock.pass(1000);
  expect(await stillWaiting).toMatchObject({ nextTryAt: 1000 + 1600 });
  harbour.become(behaves);
  const up = harbour.next(isUp);
  await clock.pass(1600);
  await up;
});

test.each([
  ["503", "120", 126_000],
  ["429", "Mon, 16 Nov 2026 00:01:00 GMT", 63_000],
  ["503", "3600", 3_780_000],
  ["503", "31536000", 86_400_000],
  ["429", "-1", 1000],
])("a server that has no time (%s) is left alone for as long as it says: %s", async (code, retryAfter, nextTryAt) => {
  await using harbour = await testHarbour(status(Number(code), { "retry-after": retryAfter }));
  await harbour.fleet.start();
  expect(harbour.client.state).toMatchObject({ reason: "backoff", nextTryAt, because: { reason: "http_status" } });
  harbour.become(behaves);
  const up = harbour.next(isUp);
  await harbour.clock.pass(nextTryAt);
  await up;
});
