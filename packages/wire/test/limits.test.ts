/** Each limit on what a server sends: one less and exactly as much is taken, one more is not. */

import { readFile } from "node:fs/promises";
import { notePromise } from "@fairlead/test-servers";
import { afterAll, describe, expect, test } from "vitest";
import { createHttpClient } from "../src/http/http-client.ts";
import { fixedLimits } from "../src/limits.ts";
import type { JsonObject, RequestHandler } from "../src/session.ts";
import { listAll, memoryOf } from "../src/shapes/lists.ts";
import { createLineSplitter } from "../src/stdio/lines.ts";
import { defaultLimits } from "../src/target.ts";
import { memoryServer } from "./support/memory-server.ts";
import { modernSession } from "./support/modern-session.ts";
import { webServer } from "./support/web-server.ts";

const tool = (name: string, description = ""): JsonObject => ({ name, description, inputSchema: { type: "object" } });

/** Lists tools from these pages; the last one is given for all further pages. */
function list(pageOf: (page: number) => JsonObject, size?: number) {
  let page = 0;
  return listAll(
    {
      capabilities: {},
      async request(_method, _params, { onSize } = {}) {
        page += 1;
        if (size !== undefined) onSize?.(size);
        return pageOf(page);
      },
    },
    "tools",
    // Sizes are told only to a caller that limits them.
    size === undefined ? {} : { maxPageBytes: 1e9 },
  );
}

const ask = { method: "elicitation/create", params: { message: "m" } };
const accept: RequestHandler = async () => ({ action: "accept", content: {} });

/** A modern call whose server wants input before each of so many rounds. */
async function isAnswered(rounds: number, input: JsonObject): Promise<boolean> {
  let left = rounds;
  const server = memoryServer({
    onMessage(message, it) {
      left -= 1;
      it.result(
        message,
        left >= 0 ? { resultType: "input_required", ...input } : { resultType: "complete", content: [] },
      );
    },
  });
  await using session = await modernSession(server, { onRequest: accept });
  // The session must be open until the answer is here.
  return await session.request("tools/call", { name: "a" }).then(
    () => true,
    () => false,
  );
}

const questions = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [at, ask]));

interface Limit {
  readonly name: string;
  readonly limit: number;
  /** Whether so much is taken. */
  readonly isTaken: (amount: number) => Promise<boolean>;
}

const limits: readonly Limit[] = [
  {
    name: "fixedLimits.pages",
    limit: fixedLimits.pages,
    async isTaken(pages) {
      const page = (at: number): JsonObject => ({ tools: [tool(`${at}`)], ...(at < pages && { nextCursor: `${at}` }) });
      return (await list(page)).truncated === undefined;
    },
  },
  {
    name: "fixedLimits.items",
    limit: fixedLimits.items,
    async isTaken(items) {
      const { items: found, truncated } = await list(() => ({
        tools: Array.from({ length: items }, (_, at) => tool(`${at}`)),
      }));
      return truncated === undefined && found.length === items;
    },
  },
  {
    name: "fixedLimits.cursorCharacters",
    limit: fixedLimits.cursorCharacters,
    isTaken: async (length) =>
      (await list((page) => (page === 1 ? { tools: [], nextCursor: "x".repeat(length) } : { tools: [] }))).truncated ===
      undefined,
  },
  {
    name: "fixedLimits.itemBytes",
    limit: fixedLimits.itemBytes,
    async isTaken(bytes) {
      const empty = memoryOf(tool("a"), Number.MAX_SAFE_INTEGER);
      const large = tool("a", "x".repeat(bytes - empty));
      expect(memoryOf(large, Number.MAX_SAFE_INTEGER)).toBe(bytes);
      return (await list(() => ({ tools: [large] }), bytes)).items.length === 1;
    },
  },
  {
    name: "fixedLimits.stateBytes",
    limit: fixedLimits.stateBytes,
    isTaken: (bytes) => isAnswered(1, { requestState: "x".repeat(bytes) }),
  },
  {
    name: "fixedLimits.redirects",
    limit: fixedLimits.redirects,
    async isTaken(redirects) {
      let left = redirects;
      await using server = await webServer((_request, response) => {
        left -= 1;
        if (left < 0) response.end("here");
        else response.writeHead(307, { location: "/on" }).end();
      });
      const client = await createHttpClient(
        { kind: "http", url: server.url, headers: {} },
        { limits: defaultLimits, proxyFor: () => undefined },
      );
      const asked = client.request({ url: new URL(server.url), method: "GET", headers: {}, repeatable: true });
      const isFollowed = await asked.then(
        ({ body }) => {
          body.resume();
          return true;
        },
        () => false,
      );
      client.close();
      return isFollowed;
    },
  },
  {
    name: "fixedLimits.challenges",
    limit: fixedLimits.challenges,
    async isTaken(refusals) {
      let left = refusals;
      await using server = await webServer((_request, response) => {
        left -= 1;
        response.writeHead(left < 0 ? 200 : 401).end();
      });
      const client = await createHttpClient(
        { kind: "http", url: server.url, headers: {} },
        {
          limits: defaultLimits,
          proxyFor: () => undefined,
          auth: { headers: async () => ({}), challenged: async () => true },
        },
      );
      const asked = client.request({ url: new URL(server.url), method: "GET", headers: {}, repeatable: true });
      const isAccepted = await asked.then(
        ({ status, body }) => {
          body.resume();
          return status === 200;
        },
        () => false,
      );
      client.close();
      return isAccepted;
    },
  },
  {
    name: "defaultLimits.inputRounds",
    limit: defaultLimits.inputRounds,
    isTaken: (rounds) => isAnswered(rounds, { inputRequests: { q: ask } }),
  },
  {
    name: "defaultLimits.inboundRequests",
    limit: defaultLimits.inboundRequests,
    isTaken: (count) => isAnswered(1, { inputRequests: questions(count) }),
  },
  {
    name: "defaultLimits.messageBytes",
    limit: defaultLimits.messageBytes,
    async isTaken(bytes) {
      let isLine = false;
      const lines = createLineSplitter({
        limit: defaultLimits.messageBytes,
        line: () => {
          isLine = true;
        },
        tooLong: () => {},
      });
      const chunk = Buffer.alloc(1024 * 1024, "x");
      for (let left = bytes; left > 0; left -= chunk.length)
        lines.push(chunk.subarray(0, Math.min(left, chunk.length)));
      lines.push(Buffer.from("\n"));
      return isLine;
    },
  },
];

test("the page of limits has each of them with its value", async () => {
  const page = await readFile(new URL("../../../docs/limits.md", import.meta.url), "utf8");
  for (const { name, limit } of limits)
    expect(page).toContain(`| \`${name}\` | ${String(limit).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, " ")} |`);
});

let held = 0;
describe.each(limits)("$name", ({ limit, isTaken }) => {
  test.each([
    ["one less than the limit", -1, true],
    ["as much as the limit", 0, true],
    ["one more than the limit", 1, false],
  ] as const)("%s", async (_, more, expected) => {
    expect(await isTaken(limit + more)).toBe(expected);
    held += 1;
  });
});

afterAll(() =>
  notePromise({
    group: "limits",
    promise: "limits on what a server sends hold at N − 1, N and N + 1",
    tries: 3 * limits.length,
    failures: 3 * limits.length - held,
    load: `${limits.length} limits of the wire`,
  }),
);
