import { expect, test } from "vitest";
import { answer, legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { failure } from "../support/memory-server.ts";
import type { WebServer } from "../support/web-server.ts";

/** Drops the connection of the first request for tools, without an answer. */
function dropping(): Promise<WebServer> {
  let dropped = false;
  return legacyWeb({
    onPost(message, response) {
      if (dropped || message["method"] === "ping") return answer(response, message, { ok: true });
      dropped = true;
      response.socket?.destroy();
    },
  });
}

const times = (server: WebServer, method: string): number =>
  server.seen.filter(({ body }) => body.includes(`"${method}"`)).length;

test("a request on a kept connection that turns out to be dead is sent again", async () => {
  await using server = await dropping();
  const session = await openLegacy(server);
  // Leaves a connection that is kept.
  await session.request("ping");
  expect(await session.request("tools/list")).toEqual({ ok: true });
  expect(times(server, "tools/list")).toBe(2);
  await session.close();
});

test("a tool call is not: it may have been seen", async () => {
  await using server = await dropping();
  const session = await openLegacy(server);
  // Leaves a connection that is kept.
  await session.request("ping");
  const error = await failure(session.request("tools/call", { name: "pay" }));
  expect(error).toMatchObject({
    code: "unreachable",
    message: "the connection was reset while the request was sent",
    evidence: { step: "tools/call" },
  });
  expect(error.evidence.unsent).toBeUndefined();
  expect(times(server, "tools/call")).toBe(1);
  expect(await session.request("tools/list")).toEqual({ ok: true });
  await session.close();
});
