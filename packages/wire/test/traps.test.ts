import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../src/session.ts";
import { listAll } from "../src/shapes/lists.ts";
import { normaliseToolResult } from "../src/shapes/results.ts";
import type { AuthHook } from "../src/target.ts";
import { answer, legacyWeb, openLegacy } from "./support/legacy-web.ts";

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
