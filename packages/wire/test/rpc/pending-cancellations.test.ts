/** Who gives up and goes at once is heard all the same. */

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/session.ts";
import { answer, legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { failure, memoryServer, rpcTo } from "../support/memory-server.ts";

test("a cancellation reaches a web server though the conversation is closed right after it", async () => {
  const heard: unknown[] = [];
  let begun: () => void = () => {};
  const isOpen = new Promise<void>((resolve) => {
    begun = resolve;
  });
  await using server = await legacyWeb({
    onPost(message, response) {
      heard.push(message["method"]);
      if (message["method"] === "tools/call") begun();
      else response.writeHead(202).end();
    },
  });
  const session = await openLegacy(server, { times: { endGrace: 20_000 } });
  const stop = new AbortController();
  const failed = failure(session.request("tools/call", { name: "endless" }, { signal: stop.signal }));
  await isOpen;
  stop.abort();
  await session.close();
  expect(await failed).toMatchObject({ code: "cancelled" });
  expect(heard).toEqual(["tools/call", "notifications/cancelled"]);
});

test("so does the end of a task", async () => {
  const heard: unknown[] = [];
  let looked: () => void = () => {};
  const isLookedAt = new Promise<void>((resolve) => {
    looked = resolve;
  });
  const task: JsonObject = { taskId: "t1", status: "working", pollInterval: 1 };
  await using server = await legacyWeb({
    capabilities: { tools: {}, tasks: {} },
    onPost(message, response) {
      heard.push(message["method"]);
      if (message["method"] === "tools/call") answer(response, message, { task });
      else answer(response, message, task);
      if (message["method"] === "tasks/get") looked();
    },
  });
  const session = await openLegacy(server, { times: { endGrace: 20_000 } });
  const stop = new AbortController();
  const failed = failure(session.request("tools/call", { name: "endless" }, { asTask: true, signal: stop.signal }));
  await isLookedAt;
  stop.abort();
  await session.close();
  expect(await failed).toMatchObject({ code: "cancelled" });
  expect(heard.at(-1)).toBe("tasks/cancel");
});

test("a server that does not take it is not waited for any longer than it may take to end", async () => {
  const server = memoryServer();
  await using rpc = await rpcTo({ ...server, open: slow(server.open) }, { times: { endGrace: 50 } });
  const stop = new AbortController();
  const failed = failure(rpc.request("tools/call", {}, { signal: stop.signal }));
  stop.abort();
  await failed;
  const late = failure(rpc.request("ping"));
  await rpc.close();
  expect(await late).toMatchObject({ code: "closed" });
  expect(await failure(rpc.request("ping"))).toMatchObject({ code: "closed", evidence: { unsent: true } });
});

/** Messages never get through. */
function slow(open: ReturnType<typeof memoryServer>["open"]): ReturnType<typeof memoryServer>["open"] {
  return async (events, signal) => ({ ...(await open(events, signal)), send: () => new Promise(() => {}) });
}
