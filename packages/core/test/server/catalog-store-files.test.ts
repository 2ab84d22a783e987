import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type CachedCatalog, CatalogStore, catalogKey } from "../../src/server/catalog-store.ts";

const hour = 60 * 60 * 1000;
const cached: CachedCatalog = {
  catalog: {
    tools: [{ name: "read", inputSchema: { type: "object", default: null } }],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    dropped: [],
    repaired: [],
    truncated: [],
  },
  peer: { era: "legacy", protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1" } },
  hidden: [],
  offer: { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 },
  reachedAt: 1_000_000,
  savedAt: 1_000_000,
};

test("a server that sends requests to the client is noted in a file that only the user may read", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "catalogs");
  const store = new CatalogStore(path);
  expect([await store.isEmpty(), await store.asksBack("key")]).toEqual([true, false]);
  await store.noteAsksBack("key");
  expect([await store.isEmpty(), await store.asksBack("key"), await store.asksBack("other")]).toEqual([
    false,
    true,
    false,
  ]);
  expect(await readdir(path)).toEqual(["key.asks-back"]);
  expect((await stat(join(path, "key.asks-back"))).mode & 0o777).toBe(0o600);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test.each<[string, Partial<CachedCatalog>]>([
  ["without a time", {}],
  ["with a time until which it is valid", { freshUntil: 5_000_000 }],
])("a catalog %s that an earlier run has saved is written again only after an hour", async (_, more) => {
  await using folder = await temporaryFolder();
  const first = { ...cached, ...more };
  await new CatalogStore(folder.path).save("key", first);
  const store = new CatalogStore(folder.path);
  expect(await store.read("key")).toEqual(first);
  const saved = async (savedAt: number): Promise<unknown> => {
    await store.save("key", { ...first, savedAt });
    return JSON.parse(await readFile(join(folder.path, "key.json"), "utf8")).savedAt;
  };
  expect(await saved(1_000_000 + hour - 1)).toBe(1_000_000);
  expect(await saved(1_000_000 + hour)).toBe(1_000_000 + hour);
});

test("a file is removed after ninety days, and no earlier; files with other endings stay", async () => {
  await using folder = await temporaryFolder();
  const day = 24 * hour;
  const now = Date.now();
  const ages: Record<string, number> = {
    "new.json": 90 * day - 1000,
    "old.json": 90 * day + 1000,
    "old.tmp": 91 * day,
    "old.asks-back": 91 * day,
    "old.txt": 91 * day,
  };
  for (const [name, age] of Object.entries(ages)) {
    await writeFile(join(folder.path, name), "");
    await utimes(join(folder.path, name), (now - age) / 1000, (now - age) / 1000);
  }
  await new CatalogStore(folder.path).save("key", { ...cached, savedAt: now });
  expect((await readdir(folder.path)).sort()).toEqual(["key.json", "new.json", "old.txt"]);
});

const pair = (setting: unknown) => ({ hidden: [["write", setting]] });
const peer = (more: object) => ({ peer: { ...cached.peer, ...more } });

test.each<[object, boolean]>([
  [pair("includeTools"), true],
  [pair("excludeTools"), true],
  [pair("other"), false],
  [{ hidden: [["write"]] }, false],
  [{ hidden: [["write", "includeTools", "more"]] }, false],
  [{ hidden: [[1, "includeTools"]] }, false],
  [{ hidden: ["write"] }, false],
  [peer({ era: "modern" }), true],
  [peer({ era: "other" }), false],
  [peer({ transport: "stdio" }), true],
  [peer({ transport: "http" }), true],
  [peer({ transport: "sse" }), true],
  [peer({ transport: "other" }), false],
  [{ savedAt: null }, false],
])("a cached catalog with %j is used: %s", async (change, isUsed) => {
  await using folder = await temporaryFolder();
  const stored = { ...cached, ...change };
  await writeFile(join(folder.path, "key.json"), JSON.stringify(stored));
  expect(await new CatalogStore(folder.path).read("key")).toEqual(isUsed ? stored : undefined);
});

test("the order of headers and variables does not change the key of a catalog", () => {
  const keyOf = (headers: readonly (readonly [string, string])[]) =>
    catalogKey(
      { fingerprint: "f", expanded: { kind: "http", url: "http://h", headers: new Map(headers) } },
      Buffer.from("key"),
    );
  const all = [
    ["a", "1"],
    ["b", "2"],
    ["c", "3"],
  ] as const;
  expect(keyOf([...all].reverse())).toBe(keyOf(all));
  expect(
    keyOf([
      ["a", "1"],
      ["b", "2"],
    ]),
  ).not.toBe(keyOf(all));
});
