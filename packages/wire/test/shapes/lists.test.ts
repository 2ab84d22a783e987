import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, NegotiatedProtocol, Session } from "../../src/session.ts";
import { listAll } from "../../src/shapes/lists.ts";

type Listable = Pick<Session, "request" | "capabilities" | "protocol">;

interface Asked {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** A server that answers lists, and what it was asked. */
function serverOf(
  answer: (cursor: unknown, asked: number) => unknown,
  { capabilities = {}, protocol = { era: "legacy", transport: "stdio" } as NegotiatedProtocol } = {},
): Listable & { asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    capabilities,
    protocol,
    async request(method, params) {
      asked.push({ method, params });
      const result = answer(params?.["cursor"], asked.length);
      if (result instanceof Error) throw result;
      return result as JsonObject;
    },
  };
}

const refusal = (code: number): WireError => new WireError("rpc", "no", { rpc: { code } });
const tools = (...names: string[]): JsonObject[] => names.map((name) => ({ name, inputSchema: { type: "object" } }));
const nothing = { items: [], dropped: [], repaired: [] };

describe("limits in bytes", () => {
  /** Pages of 1,000 bytes each, as the session reports them. */
  function sizedPages(
    sizes: readonly number[],
    page: (number: number) => JsonObject[],
  ): Listable & { limits: unknown[] } {
    const limits: unknown[] = [];
    return {
      limits,
      capabilities: {},
      protocol: { era: "legacy", transport: "stdio" },
      async request(_method, params, options) {
        const at = Number(params?.["cursor"] ?? 0);
        const size = sizes[at] ?? 0;
        limits.push(options?.maxBytes);
        if (size > (options?.maxBytes ?? Number.POSITIVE_INFINITY))
          throw new WireError("too_large", "large", { step: "tools/list" });
        options?.onSize?.(size);
        return { tools: page(at), ...(at + 1 < sizes.length && { nextCursor: at + 1 }) };
      },
    };
  }
  const named = (at: number): JsonObject[] => tools(`t${at}`);

  test("one page may have so many; what came before it is kept", async () => {
    const server = sizedPages([500, 600, 500], named);
    expect(await listAll(server, "tools", { maxPageBytes: 550 })).toEqual({
      ...nothing,
      items: named(0),
      truncated: "page 2 is larger than 550 bytes",
      cutBy: "page",
      bytes: 500,
    });
  });

  test("lists that are read together share their room, and no page is asked for without any", async () => {
    const room = { bytes: 1500 };
    const one = sizedPages([500, 500], named);
    expect(await listAll(one, "tools", { room })).toEqual({ ...nothing, items: tools("t0", "t1"), bytes: 1000 });
    const other = sizedPages([500, 1], named);
    expect(await listAll(other, "tools", { room })).toEqual({
      ...nothing,
      items: named(0),
      truncated: "page 2 exceeds the limit for the size of all lists together",
      cutBy: "room",
      bytes: 500,
    });
    expect([...one.limits, ...other.limits]).toEqual([1500, 1000, 500]);
    expect(room).toEqual({ bytes: 0 });
  });

  test("what takes more memory than its text counts by its memory, and an entry of a megabyte is dropped", async () => {
    const megabyte = 1024 * 1024;
    const empties = { ...tools("empties")[0], list: Array.from({ length: 20_000 }, () => ({})) };
    const large = { ...tools("large")[0], text: "x".repeat(megabyte) };
    const room = { bytes: 64 * megabyte };
    const server = sizedPages([2 * megabyte], () => [...tools("a"), empties, large]);
    const { items, dropped, bytes = 0 } = await listAll(server, "tools", { room });
    expect(items.map(({ name }) => name)).toEqual(["a", "empties"]);
    expect(dropped).toEqual([{ name: "large", reason: `it is larger than ${megabyte} bytes` }]);
    expect(bytes).toBe(2 * megabyte);
    const dense = sizedPages([2 * megabyte], () => Array.from({ length: 20 }, () => empties));
    const { items: kept, cutBy } = await listAll(dense, "tools", { room: { bytes: 4 * megabyte } });
    expect({ kept: kept.length, cutBy }).toEqual({ kept: 0, cutBy: "room" });
  });
});

describe("pages", () => {
  test("are all read, and the cursor goes back as it came", async () => {
    const server = serverOf((cursor) =>
      cursor === undefined
        ? { tools: tools("a", "b"), nextCursor: "2/ö" }
        : { tools: cursor === "2/ö" ? tools("c") : [], nextCursor: cursor === "2/ö" ? 3 : undefined },
    );
    expect(await listAll(server, "tools")).toEqual({ ...nothing, items: tools("a", "b", "c") });
    expect(server.asked).toEqual([
      { method: "tools/list", params: undefined },
      { method: "tools/list", params: { cursor: "2/ö" } },
      { method: "tools/list", params: { cursor: 3 } },
    ]);
  });

  test.each([[null], [""], [undefined]])("end with the cursor %j", async (nextCursor) => {
    const server = serverOf(() => ({ tools: tools("a"), nextCursor }));
    expect(await listAll(server, "tools")).toEqual({ ...nothing, items: tools("a") });
    expect(server.asked).toHaveLength(1);
  });

  test.each([
    [
      "the same page again",
      (asked: number) => (asked % 2 ? "a" : "b"),
      "nextCursor is the same as on an earlier page",
      3,
    ],
    ["ever new pages", (asked: number) => `page ${asked}`, "more than 100 pages", 100],
    ["a page that is an object", () => ({}), "nextCursor is neither a string nor a number", 1],
    ["a page with an endless name", () => "x".repeat(70_000), "nextCursor is too long", 1],
  ])("that name %s come to an end", async (_, cursorOf, truncated, asked) => {
    const server = serverOf((_cursor, count) => ({ tools: tools(`t${count}`), nextCursor: cursorOf(count) }));
    const listing = await listAll(server, "tools");
    expect(listing.truncated).toBe(truncated);
    expect(listing.items).toHaveLength(asked);
    expect(server.asked).toHaveLength(asked);
  });

  test.each([
    [9_999, 9_999, undefined],
    [10_000, 10_000, undefined],
    [10_001, 10_000, "more than 10000 entries"],
  ])("with %d entries in all yield %d", async (given, kept, truncated) => {
    const all = tools(...Array.from({ length: given }, (_, index) => `t${index}`));
    const server = serverOf((cursor) =>
      cursor === undefined ? { tools: all.slice(0, 6_000), nextCursor: "2" } : { tools: all.slice(6_000) },
    );
    const listing = await listAll(server, "tools");
    expect(listing.items).toHaveLength(kept);
    expect(listing.truncated).toBe(truncated);
  });

  test("a page that is refused leaves what came before it", async () => {
    const server = serverOf((cursor) =>
      cursor === undefined ? { tools: tools("a"), nextCursor: "2" } : refusal(-32602),
    );
    expect(await listAll(server, "tools")).toEqual({
      ...nothing,
      items: tools("a"),
      truncated: "page 2 was refused: no",
    });
  });

  test("a page that is lost, not refused, fails the list", async () => {
    const lost = new WireError("exited", "gone");
    const server = serverOf((cursor) => (cursor === undefined ? { tools: tools("a"), nextCursor: "2" } : lost));
    await expect(listAll(server, "tools")).rejects.toBe(lost);
  });
});

describe("a server that does not declare a capability", () => {
  test.each([
    ["tools", "tools/list"],
    ["prompts", "prompts/list"],
    ["resources", "resources/list"],
    ["resourceTemplates", "resources/templates/list"],
  ] as const)("is asked for its %s anyway, and may say no in its own way", async (kind, method) => {
    for (const code of [-32601, -32603, -32000, 0]) {
      const server = serverOf(() => refusal(code));
      expect(await listAll(server, kind)).toEqual(nothing);
      expect(server.asked).toEqual([{ method, params: undefined }]);
    }
  });

  test("one that declares it may only say that it does not know the method", async () => {
    const capabilities = { tools: {} };
    expect(
      await listAll(
        serverOf(() => refusal(-32601), { capabilities }),
        "tools",
      ),
    ).toEqual(nothing);
    await expect(
      listAll(
        serverOf(() => refusal(-32603), { capabilities }),
        "tools",
      ),
    ).rejects.toMatchObject({
      evidence: { rpc: { code: -32603 } },
    });
  });
});

describe("entries", () => {
  test.each([
    ["no inputSchema", {}, "inputSchema is missing or invalid"],
    ["a null inputSchema", { inputSchema: null }, "inputSchema is missing or invalid"],
    ["an inputSchema that is a list", { inputSchema: [] }, "inputSchema is missing or invalid"],
    ["an inputSchema that is true", { inputSchema: true }, "inputSchema is missing or invalid"],
    [
      "a null description",
      { inputSchema: { type: "object" }, description: null },
      "description is invalid and was removed",
    ],
    ["a title that is a number", { inputSchema: { type: "object" }, title: 7 }, "title is invalid and was removed"],
    [
      "annotations that are a string",
      { inputSchema: { type: "object" }, annotations: "readOnly" },
      "annotations is invalid and was removed",
    ],
    [
      "an outputSchema that is a list",
      { inputSchema: { type: "object" }, outputSchema: [] },
      "outputSchema is invalid and was removed",
    ],
  ])("a tool with %s is repaired, and said so", async (_, rest, reason) => {
    const server = serverOf(() => ({ tools: [{ name: "odd", ...rest }, ...tools("fine")] }));
    expect(await listAll(server, "tools")).toEqual({
      items: tools("odd", "fine"),
      dropped: [],
      repaired: [{ name: "odd", reason }],
    });
  });

  test.each([
    ["only $schema", { $schema: "https://json-schema.org/draft/2020-12/schema" }],
    ["no type", { properties: {} }],
    ["another type", { type: "string" }],
    ["required: null", { type: "object", required: null }],
    ["an unresolvable $ref", { type: "object", properties: { a: { $ref: "#/nowhere" } } }],
  ])("a tool whose inputSchema has %s is kept as it is", async (_, inputSchema) => {
    const odd = {
      name: "odd",
      inputSchema,
      outputSchema: { $schema: "http://json-schema.org/draft-04/schema#" },
      x: 1,
    };
    const server = serverOf(() => ({ tools: [odd] }));
    const { items } = await listAll(server, "tools");
    expect(items).toEqual([odd]);
    expect(items[0]).toBe(odd);
  });

  test("what has no name is dropped, each with its reason, and the others stay", async () => {
    const server = serverOf(() => ({
      tools: [null, 7, [], "x", {}, { name: 7 }, { name: "" }, ...tools("fine", "fine")],
    }));
    expect(await listAll(server, "tools")).toEqual({
      items: tools("fine", "fine"),
      dropped: [
        { reason: "it is not an object" },
        { reason: "it is not an object" },
        { reason: "it is not an object" },
        { reason: "it is not an object" },
        { reason: "it has no name" },
        { reason: "it has no name" },
        { name: "", reason: "it has no name" },
      ],
      repaired: [],
    });
  });

  test.each([[null], [undefined], [{}], ["tools"]])("a page whose list is %j is said to hold none", async (given) => {
    const server = serverOf(() => ({ tools: given }));
    expect(await listAll(server, "tools")).toEqual({
      ...nothing,
      dropped: [{ reason: "page 1 has no list of tools" }],
    });
  });

  test("prompts, resources and templates are salvaged in the same way", async () => {
    const prompts = serverOf(() => ({ prompts: [{ name: "p", arguments: "none" }, { title: "nameless" }] }));
    expect(await listAll(prompts, "prompts")).toEqual({
      items: [{ name: "p" }],
      dropped: [{ reason: "it has no name" }],
      repaired: [{ name: "p", reason: "arguments is invalid and was removed" }],
    });
    const resources = serverOf(() => ({ resources: [{ uri: "file:///a", mimeType: null }, { name: "x" }] }));
    expect(await listAll(resources, "resources")).toEqual({
      items: [{ uri: "file:///a", name: "file:///a" }],
      dropped: [{ reason: "it has no uri" }],
      repaired: [
        { name: "file:///a", reason: "name is missing or invalid" },
        { name: "file:///a", reason: "mimeType is invalid and was removed" },
      ],
    });
    const templates = serverOf(() => ({ resourceTemplates: [{ uriTemplate: "a://{b}", name: "ab" }, { uri: "a" }] }));
    expect(await listAll(templates, "resourceTemplates")).toEqual({
      items: [{ uriTemplate: "a://{b}", name: "ab" }],
      dropped: [{ reason: "it has no uriTemplate" }],
      repaired: [],
    });
  });

  test("a member called __proto__ changes nothing but itself", async () => {
    const entry = JSON.parse(
      '{"name":"a","description":null,"__proto__":{"inputSchema":{"type":"object"}}}',
    ) as JsonObject;
    const { items } = await listAll(
      serverOf(() => ({ tools: [entry] })),
      "tools",
    );
    expect(items[0]?.inputSchema).toEqual({ type: "object" });
    expect(Object.getPrototypeOf(items[0])).toBe(Object.prototype);
  });

  test("annotations are kept as they came, whatever is in them", async () => {
    const annotations = { readOnlyHint: "yes", destructiveHint: 0, title: ["no"], idempotentHint: null, other: {} };
    const tool = { name: "a", inputSchema: { type: "object" }, annotations };
    const server = serverOf(() => ({ tools: [tool] }));
    expect(await listAll(server, "tools")).toEqual({ ...nothing, items: [tool] });
  });

  test("tools with impossible marks are dropped where marks matter, and only those", async () => {
    const odd = {
      name: "odd",
      inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } },
    };
    const answer = (): JsonObject => ({ tools: [odd, ...tools("fine")] });
    const modern: NegotiatedProtocol = { era: "modern", transport: "http" };
    expect(await listAll(serverOf(answer, { protocol: modern }), "tools")).toEqual({
      items: tools("fine"),
      dropped: [{ name: "odd", reason: "x-mcp-header of a needs the type string, integer or boolean" }],
      repaired: [],
    });
    expect((await listAll(serverOf(answer), "tools")).items).toHaveLength(2);
    const piped: NegotiatedProtocol = { ...modern, transport: "stdio" };
    expect((await listAll(serverOf(answer, { protocol: piped }), "tools")).items).toHaveLength(2);
  });
});
