import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, McpRequestOptions, NegotiatedProtocol, Session } from "../../src/session.ts";
import { listAll } from "../../src/shapes/lists.ts";

type Listable = Pick<Session, "request" | "capabilities" | "protocol">;

/** A server whose pages are given; an error among them is thrown. */
function serverOf(
  pages: readonly (JsonObject | WireError)[],
  {
    capabilities = {},
    protocol,
    size,
  }: { capabilities?: JsonObject; protocol?: NegotiatedProtocol; size?: number } = {},
): Listable & { readonly options: McpRequestOptions[] } {
  const options: McpRequestOptions[] = [];
  return {
    options,
    capabilities,
    ...(protocol && { protocol }),
    async request(_method, _params, how = {}) {
      options.push(how);
      const page = pages[options.length - 1] ?? {};
      if (page instanceof WireError) throw page;
      if (size !== undefined) how.onSize?.(size);
      return page;
    },
  };
}

const megabyte = 1024 * 1024;
const tool = (name: string): JsonObject => ({ name, inputSchema: { type: "object" } });
const nothing = { items: [], dropped: [], repaired: [] };

/** How many turns of the event loop pass until the promise has settled. */
async function turnsOf(promise: Promise<unknown>): Promise<number> {
  let turns = 0;
  let timer: NodeJS.Immediate;
  const count = (): void => {
    turns += 1;
    timer = setImmediate(count);
  };
  timer = setImmediate(count);
  await promise;
  clearImmediate(timer);
  return turns;
}

describe("a list with errors", () => {
  test.each([
    ["tools", "tools"],
    ["prompts", "prompts"],
    ["resources", "resources"],
    ["resourceTemplates", "resources"],
  ] as const)("of %s fails if the server declares %s and refuses it", async (kind, capability) => {
    const refused = new WireError("rpc", "no", { rpc: { code: -32603 } });
    await expect(listAll(serverOf([refused], { capabilities: { [capability]: {} } }), kind)).rejects.toBe(refused);
    expect(await listAll(serverOf([refused], { capabilities: { [capability]: true } }), kind)).toEqual(nothing);
    expect(await listAll(serverOf([refused], { capabilities: { other: {} } }), kind)).toEqual(nothing);
  });

  test("is empty if the refusal of an undeclared list has no code", async () => {
    expect(await listAll(serverOf([new WireError("rpc", "no")]), "tools")).toEqual(nothing);
    const declared = { capabilities: { tools: {} } };
    await expect(listAll(serverOf([new WireError("rpc", "no")], declared), "tools")).rejects.toThrow("no");
  });

  test("keeps the pages before one that needs too much memory", async () => {
    const large = new WireError("too_large", "the values take too much", { overMemory: true });
    expect(await listAll(serverOf([{ tools: [tool("a")], nextCursor: "2" }, large]), "tools")).toEqual({
      ...nothing,
      items: [tool("a")],
      truncated: "page 2 was not read: the values take too much",
      cutBy: "memory",
    });
  });

  test.each([
    [{ maxPageBytes: 100 }, "page 1 is larger than 100 bytes", "page"],
    [{ maxPageBytes: 100, room: { bytes: 100 } }, "page 1 is larger than 100 bytes", "page"],
    [{ maxPageBytes: 100, room: { bytes: 99 } }, "page 1 exceeds the limit for the size of all lists together", "room"],
  ])("names the limit that a page exceeds: %j", async (limits, truncated, cutBy) => {
    const large = new WireError("too_large", "large", { step: "tools/list" });
    expect(await listAll(serverOf([large]), "tools", limits)).toEqual({ ...nothing, truncated, cutBy });
  });

  test.each([
    ["a message of another request", new WireError("too_large", "large", { step: "initialize" })],
    ["another failure of the list", new WireError("timeout", "late", { step: "tools/list" })],
    ["a lost connection", new WireError("closed", "gone", {})],
  ])("fails after %s that is not about the size of a page", async (_, error) => {
    await expect(listAll(serverOf([error]), "tools", { maxPageBytes: 10 })).rejects.toBe(error);
  });

  test("is not requested at all without room", async () => {
    const server = serverOf([{ tools: [tool("a")] }]);
    expect(await listAll(server, "tools", { room: { bytes: 0 } })).toEqual({
      ...nothing,
      truncated: "page 1 exceeds the limit for the size of all lists together",
      cutBy: "room",
    });
    expect(server.options).toEqual([]);
    expect((await listAll(server, "tools", { room: { bytes: 1 } })).items).toHaveLength(1);
  });

  test("fills the room exactly, and one byte more is too much", async () => {
    const pages = [{ tools: [tool("a")] }];
    const fits = await listAll(serverOf(pages, { size: 10 }), "tools", { room: { bytes: 10 } });
    expect(fits).toEqual({ ...nothing, items: [tool("a")], bytes: 10 });
    const room = { bytes: 9 };
    expect(await listAll(serverOf(pages, { size: 10 }), "tools", { room })).toEqual({
      ...nothing,
      truncated: "page 1 exceeds the limit for the size of all lists together",
      cutBy: "room",
      bytes: 10,
    });
    expect(room).toEqual({ bytes: -1 });
  });
});

describe("the request for a page", () => {
  test("has the caller's options, and a limit only if there is one", async () => {
    const server = serverOf([{ tools: [] }]);
    await listAll(server, "tools", { timeout: 7, maxPages: 3 });
    expect(server.options).toEqual([{ timeout: 7, onDropped: expect.any(Function) }]);
    const limited = serverOf([{ tools: [] }]);
    await listAll(limited, "tools", { timeout: 7, maxPageBytes: 9, room: { bytes: 20 } });
    expect(limited.options).toEqual([
      { timeout: 7, onDropped: expect.any(Function), maxBytes: 9, onSize: expect.any(Function) },
    ]);
  });

  test("collects what the session drops, in order", async () => {
    const session: Listable = {
      capabilities: {},
      async request(_method, _params, { onDropped } = {}) {
        onDropped?.({ name: "a", reason: "first" });
        onDropped?.({ reason: "second" });
        return { tools: [7, tool("b")], nextCursor: {} };
      },
    };
    expect(await listAll(session, "tools")).toEqual({
      items: [tool("b")],
      dropped: [{ name: "a", reason: "first" }, { reason: "second" }, { reason: "it is not an object" }],
      repaired: [],
      truncated: "nextCursor is neither a string nor a number",
    });
  });

  test("has a cursor of at most 65536 characters", async () => {
    const named = (length: number): JsonObject => ({ tools: [tool("a")], nextCursor: "x".repeat(length) });
    expect((await listAll(serverOf([named(65_536), { tools: [] }]), "tools")).truncated).toBeUndefined();
    expect((await listAll(serverOf([named(65_537), { tools: [] }]), "tools")).truncated).toBe("nextCursor is too long");
  });

  test.each([
    [2, undefined],
    [1, "more than 1 pages"],
    [0, "more than 0 pages"],
  ])("is sent at most %d times if that is the limit", async (maxPages, truncated) => {
    const server = serverOf([{ tools: [], nextCursor: 0 }, { tools: [] }]);
    expect((await listAll(server, "tools", { maxPages })).truncated).toBe(truncated);
    expect(server.options).toHaveLength(maxPages);
  });
});

describe("how long a list is valid", () => {
  test.each([
    [[500, 300, 400], 300],
    [[500, -1, 400], 0],
    [[0], 0],
    [["60", null, 7], 7],
    [["60", null], undefined],
    [[Number.POSITIVE_INFINITY], undefined],
  ])("is the shortest time of its pages: %j", async (times, ttlMs) => {
    const pages = times.map((time, at) => ({
      tools: [],
      ttlMs: time,
      ...(at < times.length - 1 && { nextCursor: at }),
    }));
    expect(await listAll(serverOf(pages), "tools")).toEqual({ ...nothing, ...(ttlMs !== undefined && { ttlMs }) });
  });
});

describe("the memory of a list", () => {
  const item = (bytes: number): JsonObject => ({ name: "big", text: "x".repeat(bytes - 32 - 3) });
  const limits = { room: { bytes: 64 * megabyte } };

  test.each([
    [megabyte - 1, megabyte + 1, 1, []],
    [megabyte, megabyte, 1, []],
    [megabyte, megabyte + 1, 0, [{ name: "big", reason: `it is larger than ${megabyte} bytes` }]],
  ])("with a page of %d bytes and an item of %d keeps %d items", async (size, itemBytes, kept, dropped) => {
    const listing = await listAll(serverOf([{ prompts: [item(itemBytes)] }], { size }), "prompts", limits);
    expect(listing.items).toHaveLength(kept);
    expect(listing.dropped).toEqual(dropped);
  });

  test("counts if it is larger than the text, and large items are named in order", async () => {
    const entries = [item(megabyte + 1), 7, { ...item(megabyte + 1), name: "more" }, item(megabyte), item(megabyte)];
    const listing = await listAll(serverOf([{ prompts: entries }], { size: megabyte }), "prompts", {
      room: { bytes: 64 * megabyte },
    });
    expect(listing.bytes).toBe(2 * megabyte + 8);
    expect(listing.dropped.map(({ name }) => name)).toEqual(["big", "more", undefined]);
  });

  test("that is large lets other code run before and after the check of its items", async () => {
    const list = (size: number, page: JsonObject): Promise<number> =>
      turnsOf(listAll(serverOf([page], { size }), "tools", { room: { bytes: 64 * megabyte } }));
    expect(await list(megabyte - 1, { tools: [tool("a")] })).toBe(0);
    expect(await list(megabyte, { tools: "none" })).toBe(1);
    expect(await list(megabyte, { tools: [tool("a")] })).toBe(2);
  });
});

describe("items", () => {
  test("and pages that are dropped or repaired are named in the server's order", async () => {
    const pages = [
      { tools: [{ name: "a" }, 7, { name: "b" }], nextCursor: "2" },
      { tools: "none", nextCursor: "3" },
      { tools: [{ title: "no name" }, { name: "c", title: 7 }] },
    ];
    const listing = await listAll(serverOf(pages), "tools");
    expect(listing.items.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(listing.dropped).toEqual([
      { reason: "it is not an object" },
      { reason: "page 2 has no list of tools" },
      { reason: "it has no name" },
    ]);
    const missing = "inputSchema is missing or invalid";
    expect(listing.repaired).toEqual([
      { name: "a", reason: missing },
      { name: "b", reason: missing },
      { name: "c", reason: missing },
      { name: "c", reason: "title is invalid and was removed" },
    ]);
  });

  test("with several mistakes are repaired in the order of the members", async () => {
    const odd = { ...tool("odd"), inputSchema: 1, title: 1, description: 2, annotations: 3, _meta: 4 };
    const reasons = ["title", "description", "annotations", "_meta", "outputSchema", "execution"];
    expect(await listAll(serverOf([{ tools: [{ ...odd, outputSchema: 5, execution: 6 }] }]), "tools")).toEqual({
      items: [tool("odd")],
      dropped: [],
      repaired: [
        { name: "odd", reason: "inputSchema is missing or invalid" },
        ...reasons.map((member) => ({ name: "odd", reason: `${member} is invalid and was removed` })),
      ],
    });
  });

  test("keep all members that are valid", async () => {
    const full = { title: "t", description: "d", annotations: {}, _meta: { a: 1 } };
    const tools = [{ ...tool("a"), ...full, outputSchema: {}, execution: { taskSupport: "optional" } }];
    expect(await listAll(serverOf([{ tools }]), "tools")).toEqual({ ...nothing, items: tools });
    const prompts = [
      { name: "p", ...full, arguments: [{ name: "x" }, {}] },
      { name: "q", arguments: [] },
    ];
    expect(await listAll(serverOf([{ prompts }]), "prompts")).toEqual({ ...nothing, items: prompts });
    const resources = [{ uri: "a:b", name: "n", ...full, mimeType: "text/plain" }];
    expect(await listAll(serverOf([{ resources }]), "resources")).toEqual({ ...nothing, items: resources });
  });

  test("lose a list of arguments in which one is not an object", async () => {
    const prompts = [{ name: "p", arguments: [{ name: "x" }, "y"] }];
    expect(await listAll(serverOf([{ prompts }]), "prompts")).toEqual({
      items: [{ name: "p" }],
      dropped: [],
      repaired: [{ name: "p", reason: "arguments is invalid and was removed" }],
    });
  });

  test("of resources and templates are named after their address if they have no name", async () => {
    const resourceTemplates = [{ uriTemplate: "a://{b}", name: 7, mimeType: 7 }];
    expect(await listAll(serverOf([{ resourceTemplates }]), "resourceTemplates")).toEqual({
      items: [{ uriTemplate: "a://{b}", name: "a://{b}" }],
      dropped: [],
      repaired: [
        { name: "a://{b}", reason: "name is missing or invalid" },
        { name: "a://{b}", reason: "mimeType is invalid and was removed" },
      ],
    });
  });

  test("other than tools need no valid headers at a modern HTTP server", async () => {
    const inputSchema = { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } };
    const prompts = [{ name: "p", inputSchema }];
    const protocol: NegotiatedProtocol = { era: "modern", transport: "http" };
    expect(await listAll(serverOf([{ prompts }], { protocol }), "prompts")).toEqual({ ...nothing, items: prompts });
    const tools = [{ name: "t", inputSchema }];
    const legacy: NegotiatedProtocol = { era: "legacy", transport: "http" };
    expect((await listAll(serverOf([{ tools }], { protocol: legacy }), "tools")).items).toEqual(tools);
    expect((await listAll(serverOf([{ tools }], { protocol }), "tools")).items).toEqual([]);
  });
});
