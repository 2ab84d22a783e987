import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { listAll } from "../src/lists.ts";
import { normaliseToolResult } from "../src/results.ts";
import type { JsonObject } from "../src/session.ts";
import type { AuthHook } from "../src/target.ts";
import { answer, legacyWeb, openLegacy } from "./support/legacy-web.ts";
import { startEvents } from "./support/web-server.ts";

describe("a tool with an output schema", () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

  test.each<[string, JsonObject, JsonObject]>([
    ["without structured content", outputSchema, { content: [{ type: "text", text: "done" }] }],
    ["with structured content that does not fit", outputSchema, { content: [], structuredContent: { n: "one" } }],
    ["with an error beside it", outputSchema, { content: [], isError: true, structuredContent: { n: "one" } }],
    ["and a reference that leads nowhere", { $ref: "#/$defs/gone" }, { content: [], structuredContent: { n: 1 } }],
    ["of another type", { type: "array", items: { type: "number" } }, { content: [], structuredContent: [1] }],
    [
      "and a pattern that takes for ever",
      { type: "object", properties: { s: { type: "string", pattern: "^(a+)+$" } } },
      { content: [], structuredContent: { s: `${"a".repeat(40)}!` } },
    ],
  ])("%s keeps the result of a call that was made", async (_, schema, result) => {
    const tool = { name: "t", inputSchema: { type: "object" }, outputSchema: schema };
    await using server = await legacyWeb({
      onPost: (message, response) =>
        answer(response, message, message["method"] === "tools/list" ? { tools: [tool] } : result),
    });
    const session = await openLegacy(server);
    expect((await listAll(session, "tools")).items).toEqual([tool]);
    const raw = await session.request("tools/call", { name: "t", arguments: {} });
    expect(raw).toEqual(result);
    expect(normaliseToolResult(raw)).toMatchObject({ ...result, isError: result["isError"] === true });
    await session.close();
  });
});

test("two tools of one name are both listed", async () => {
  const tool = { name: "same", inputSchema: { type: "object" } };
  await using server = await legacyWeb({
    onPost: (message, response) => answer(response, message, { tools: [tool, tool] }),
  });
  const session = await openLegacy(server);
  expect((await listAll(session, "tools")).items).toEqual([tool, tool]);
  await session.close();
});

describe("the GET stream", () => {
  test("that is closed politely again and again, with nothing on it, is visited less and less", async () => {
    const visits: number[] = [];
    let seen: () => void = () => {};
    const third = new Promise<void>((resolve) => {
      seen = resolve;
    });
    await using server = await legacyWeb({
      onGet(response) {
        visits.push(performance.now());
        startEvents(response);
        response.end("retry: 1\n\n");
        if (visits.length === 3) seen();
      },
    });
    const session = await openLegacy(server);
    await third;
    const [first = 0, second = 0, last = 0] = visits;
    expect(second - first).toBeLessThan(1_000);
    expect(last - second).toBeGreaterThan(1_000);
    await session.close();
  });

  test("that fails once does not end the session, and is tried again", async () => {
    let visits = 0;
    await using server = await legacyWeb({
      onGet(response) {
        visits += 1;
        if (visits === 1) return void response.writeHead(500).end();
        startEvents(response);
        response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"back"}}\n\n');
      },
    });
    let heard: (params: JsonObject) => void = () => {};
    const news = new Promise<JsonObject>((resolve) => {
      heard = resolve;
    });
    const session = await openLegacy(server, { onNotification: (_, params) => heard(params) });
    expect(await session.request("tools/list")).toEqual({});
    expect(await news).toEqual({ data: "back" });
    await session.close();
  });
});

test("a session that expires takes everything that is open with it", async () => {
  const open: ServerResponse[] = [];
  let allOpen: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    allOpen = resolve;
  });
  await using server = await legacyWeb({
    session: "s1",
    onPost(message, response) {
      if (message["method"] !== "slow") response.writeHead(404).end();
      else if (open.push(response) === 3) allOpen();
    },
  });
  const session = await openLegacy(server);
  const slow = Promise.allSettled([session.request("slow"), session.request("slow"), session.request("slow")]);
  await opened;
  await expect(session.request("fast")).rejects.toMatchObject({ code: "session_expired" });
  for (const one of await slow)
    expect(one).toMatchObject({ reason: { code: "session_expired", evidence: { step: "slow" } } });
  expect((await session.closed)?.code).toBe("session_expired");
});

test.each([401, 403])("eight requests refused with %d at once need one sign-in, and all succeed", async (status) => {
  await using server = await legacyWeb({
    onPost(message, response) {
      if (message["method"] === "x" && response.req.headers.authorization !== "new") response.writeHead(status).end();
      else answer(response, message, {});
    },
  });
  let token = "old";
  let signIns = 0;
  let flight: Promise<void> | undefined;
  const auth: AuthHook = {
    headers: async () => ({ authorization: token }),
    async challenged({ sent }) {
      if (sent["authorization"] !== token) return true;
      flight ??= Promise.resolve().then(() => {
        signIns += 1;
        token = "new";
      });
      await flight;
      return true;
    },
  };
  const session = await openLegacy(server, { auth });
  expect(await Promise.all(Array.from({ length: 8 }, () => session.request("x")))).toHaveLength(8);
  expect(signIns).toBe(1);
  await session.close();
});
