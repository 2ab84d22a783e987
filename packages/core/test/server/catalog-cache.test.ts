import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Peer } from "../../src/events.ts";
import { createOpenedHost } from "../../src/host.ts";
import { CatalogCache, type CatalogCacheOptions } from "../../src/server/catalog-cache.ts";
import type { CachedCatalog } from "../../src/server/catalog-store.ts";
import type { ServerDefinition } from "../../src/settings/define/definition.ts";
import { createWorld, serverOf } from "../support/load-settings.ts";
import { named, writtenServer } from "./written-server.ts";

const week = 604_800_000;
const legacy: Peer = {
  era: "legacy",
  protocolVersion: "2025-11-25",
  serverInfo: { name: "x", version: "1" },
  transport: "http",
};
const catalogOf = (peer: Partial<Peer> = {}): CachedCatalog => ({
  catalog: {
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    dropped: [],
    repaired: [],
    truncated: [],
  },
  hidden: [],
  offer: { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 },
  peer: { ...legacy, ...peer },
  reachedAt: 1000,
  savedAt: 1000,
});

/** Servers in user and workspace settings, and caches of several runs over one state folder. */
async function scene() {
  const world = await createWorld();
  await world.writeUser({ mcpServers: { web: { url: "https://x.example/mcp" }, program: { command: "node" } } });
  await world.writeWorkspace({ mcpServers: { own: { command: "node" } } });
  const settings = await world.load();
  const definition = (name: string): ServerDefinition => {
    const { definition: found } = serverOf(settings, name);
    if (found === undefined) throw new Error(`${name} is not defined`);
    return found;
  };
  const state = join(world.home, ".fairlead");
  return {
    state,
    world,
    web: definition("web"),
    program: definition("program"),
    own: definition("own"),
    run: (options: Partial<CatalogCacheOptions> = {}): CatalogCache =>
      new CatalogCache({ state, secret: async () => undefined, ...options }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

test("the next run reads the catalog that this run saved", async () => {
  await using at = await scene();
  expect(await at.run().read(at.web)).toBeUndefined();
  const first = at.run();
  await first.save(at.web, { ...catalogOf(), freshUntil: 1500 });
  expect(await first.read(at.web)).toEqual({ ...catalogOf(), freshUntil: 1500 });
  expect(await at.run().read(at.web)).toEqual({ ...catalogOf(), freshUntil: 1500 });
  expect(await at.run().read(at.program)).toBeUndefined();
  await at.run().save(at.web, { ...catalogOf(), savedAt: 2000 });
  expect(await at.run().read(at.web)).toEqual({ ...catalogOf(), savedAt: 2000 });
  expect((await readdir(at.state)).toSorted()).toEqual(["catalogs", "catalogs.key"]);
});

const lists = (ttlMs?: number): string =>
  `serve({ ${named("x")}, "tools/list": () => (${JSON.stringify({ tools: catalogOf().catalog.tools, ttlMs })}) });`;

test("a host saves a catalog with the times of connecting and saving, and until when it is fresh", async () => {
  await using at = await writtenServer();
  await at.write(lists(500));
  {
    await using host = await at.run({ now: () => 1000 });
    await host.start();
    await host[Symbol.asyncDispose]();
    expect(await at.cached(host)).toMatchObject({
      reachedAt: 1000,
      savedAt: 1000,
      freshUntil: 1500,
      offer: { tools: 1 },
    });
  }
  await at.write(lists());
  await using host = await at.run({ now: () => 2000 });
  await host.start();
  await host[Symbol.asyncDispose]();
  const saved = await at.cached(host);
  expect([saved?.reachedAt, saved?.savedAt, saved?.freshUntil]).toEqual([1000, 2000, undefined]);
});

test.each([
  ["the same protocol", {}, week - 1, 1000],
  ["the same protocol after a week", {}, week, 1000 + week],
  ["another era", { era: "modern" }, 1, 1001],
  ["another transport", { transport: "http" }, 1, 1001],
] as const)(
  "after a connection with %s, reachedAt is kept, or new if the protocol changed or is a week old",
  async (_what, peer, later, reachedAt) => {
    await using at = await writtenServer();
    await at.write(lists());
    const savedAt = 1000 + later;
    {
      await using host = await at.run();
      await at.cache(host, catalogOf({ transport: "stdio", ...peer }));
    }
    await using host = await at.run({ now: () => savedAt });
    await host.start();
    await host[Symbol.asyncDispose]();
    expect(await at.cached(host)).toMatchObject({ peer: { era: "legacy", transport: "stdio" }, reachedAt, savedAt });
  },
);

test("a run that chooses the era does not change the cached protocol", async () => {
  await using at = await writtenServer();
  await at.write(lists(500));
  {
    await using host = await at.run({ era: "legacy", now: () => 1000 });
    await host.start();
    await host[Symbol.asyncDispose]();
    expect(await at.cached(host)).toMatchObject({ peer: { era: "legacy" }, reachedAt: 0, savedAt: 1000 });
    await at.cache(host, catalogOf({ era: "modern", transport: "stdio" }));
  }
  await using host = await at.run({ era: "legacy", now: () => 2000 });
  await host.start();
  await host[Symbol.asyncDispose]();
  expect(await at.cached(host)).toMatchObject({
    peer: { era: "modern", transport: "stdio" },
    reachedAt: 1000,
    savedAt: 2000,
    freshUntil: 2500,
  });
});

test.each<[Partial<Peer>, unknown]>([
  [{}, { era: "legacy", transport: "http" }],
  [{ transport: "sse" }, { era: "legacy", transport: "sse" }],
  [{ era: "modern" }, { era: "modern", transport: "http" }],
  [{ era: "modern", transport: "sse" }, undefined],
])("the protocol of the peer %j is tried first for a week as %j", async (peer, protocol) => {
  await using at = await scene();
  const eraAt = async (now: number): Promise<unknown> => {
    await using host = await createOpenedHost({ environment: at.world.environment(), now: () => now });
    const web = host.gateway.servers.get("web");
    return web.shared && (await web.beforeOpen(web.shared));
  };
  expect(await eraAt(1000)).toEqual({ isFirstRun: true, era: undefined });
  await at.run().save(at.web, catalogOf(peer));
  expect(await eraAt(1000 + week - 1)).toEqual({ isFirstRun: false, era: protocol });
  expect(await eraAt(1000 + week)).toEqual({ isFirstRun: false, era: undefined });
});

test("only the account at a web server is part of the key of its catalog", async () => {
  await using at = await scene();
  const asked: unknown[] = [];
  let account: string | undefined;
  const cache = at.run({
    async accountAt({ name }, serverUrl) {
      asked.push([name, serverUrl]);
      return account;
    },
  });
  const keys = [await cache.keyOf(at.web), await cache.keyOf(at.program)];
  account = "ada";
  expect([await cache.keyOf(at.web), await cache.keyOf(at.program)]).toEqual([
    expect.not.stringMatching(`^${keys[0]}$`),
    keys[1],
  ]);
  expect(asked).toEqual([
    ["web", "https://x.example/mcp"],
    ["web", "https://x.example/mcp"],
  ]);
  expect(await at.run().keyOf(at.web)).toBe(keys[0]);
});

test("the next run reads that a server sent requests to the client", async () => {
  await using at = await scene();
  expect(await at.run().asksBack(at.web)).toBe(false);
  await at.run().noteAsksBack(at.web);
  expect([await at.run().asksBack(at.web), await at.run().asksBack(at.program)]).toEqual([true, false]);
  const failing = at.run({ accountAt: () => Promise.reject(new Error("no account")) });
  expect([await failing.asksBack(at.web), await failing.read(at.web)]).toEqual([false, undefined]);
});

test("accepted definitions are kept by server, folder and, for typed servers, definition", async () => {
  await using at = await scene();
  const own = { ...at.own, approvalFolder: at.own.base.folder };
  const cache = at.run();
  expect((await cache.readAccepted(own))?.of("t")).toBeUndefined();
  const digest = "a".repeat(64);
  const added = await cache.addAccepted(own, new Map([["t", [digest]]]));
  expect(added.of("t")).toEqual([digest]);
  expect((await cache.readAccepted(own))?.of("t")).toEqual([digest]);
  expect((await at.run().readAccepted(own))?.of("t")).toEqual([digest]);
  const elsewhere = { ...own, approvalFolder: "/other" };
  const { approvalFolder: _folder, ...everywhere } = own;
  const inUserSettings = { ...everywhere, scope: "user" } as const;
  for (const other of [elsewhere, inUserSettings, at.web])
    expect((await at.run().readAccepted(other))?.of("t")).toBeUndefined();
  expect((await at.run().readAccepted({ ...own, fingerprint: "other" }))?.of("t")).toEqual([digest]);
  for (const file of ["command line", "settings option"]) {
    const typed = { ...own, origin: { ...own.origin, file } };
    await at.run().addAccepted(typed, new Map([["t", [digest]]]));
    expect((await at.run().readAccepted(typed))?.of("t")).toEqual([digest]);
    expect((await at.run().readAccepted({ ...typed, fingerprint: "other" }))?.of("t")).toBeUndefined();
  }
});

test("a definition that is accepted in one folder is not accepted in another, and is not new there", async () => {
  await using at = await scene();
  const inFolder = (approvalFolder: string) => ({ ...at.own, scope: "user" as const, approvalFolder });
  const [one, other, third] = [inFolder("/one"), inFolder("/other"), inFolder("/third")];
  const [first, second] = ["1".repeat(64), "2".repeat(64)];
  await at.run().addAccepted(one, new Map([["t", [first]]]));
  // The other folder's tool is compared with the first definition, so another one is changed and not new.
  expect((await at.run().readAccepted(other))?.of("t")).toEqual([first]);
  expect((await at.run().addAccepted(other, new Map([["t", [second]]]))).of("t")).toEqual([second]);
  expect((await at.run().readAccepted(one))?.of("t")).toEqual([first]);
  expect((await at.run().readAccepted(third))?.of("t")).toEqual([first]);
});

test("the user reads that accepted definitions cannot be saved", async () => {
  await using at = await scene();
  await at.world.folder.write("home/.fairlead", "a file in place of the folder");
  await expect(at.run().addAccepted(at.web, new Map([["t", ["a".repeat(64)]]]))).rejects.toMatchObject({
    code: "internal",
    message: expect.stringMatching(`^the state folder ${at.state} cannot be written: .`),
  });
});
