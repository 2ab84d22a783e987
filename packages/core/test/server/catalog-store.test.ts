import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Catalog } from "../../src/server/catalog.ts";
import { type CachedCatalog, CatalogStore } from "../../src/server/catalog-store.ts";

const catalog: Catalog = {
  tools: [{ name: "read", description: "Reads.", inputSchema: { type: "object" }, icons: [{ src: "x" }] }],
  prompts: [{ name: "ask", arguments: [{ name: "what", required: true }] }],
  resources: [{ uri: "x://1", name: "one" }],
  resourceTemplates: [{ uriTemplate: "x://{n}", name: "many" }],
  instructions: "Mind the rope.",
  dropped: [{ kind: "tools", name: "bad", reason: "no schema" }],
  repaired: [],
  truncated: [],
};
const remembered: CachedCatalog = {
  catalog,
  peer: { era: "legacy", protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1" }, transport: "stdio" },
  hidden: [["write", "excludeTools"]],
  offer: { tools: 1, prompts: 1, resources: 1, resourceTemplates: 1 },
  reachedAt: 1_000_000,
  savedAt: 1_000_000,
};
const hour = 60 * 60 * 1000;

test("what was saved is recalled, whole, by another run, and only its owner may read it", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "catalogs");
  await new CatalogStore(path).save("key", remembered);
  expect(await new CatalogStore(path).read("key")).toEqual(remembered);
  expect(await new CatalogStore(path).read("other")).toBeUndefined();
  expect((await stat(join(path, "key.json"))).mode & 0o777).toBe(0o600);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test("a catalog that is too large is not written, and the one before it stays", async () => {
  await using folder = await temporaryFolder();
  const store = new CatalogStore(folder.path);
  await store.save("key", remembered);
  const inputSchema = { type: "object" };
  const tools = Array.from({ length: 20 }, (_, at) => ({ name: `t${at}`, inputSchema, text: "x".repeat(1_000_000) }));
  await store.save("key", { ...remembered, catalog: { ...catalog, tools }, savedAt: 9_000_000 });
  expect(await store.read("key")).toEqual(remembered);
});

test("the same again is written only to renew its date", async () => {
  await using folder = await temporaryFolder();
  const store = new CatalogStore(folder.path);
  const file = join(folder.path, "key.json");
  const saved = async (change: Partial<CachedCatalog>): Promise<unknown> => {
    await store.save("key", { ...remembered, ...change });
    return JSON.parse(await readFile(file, "utf8")).savedAt;
  };
  expect(await saved({})).toBe(1_000_000);
  expect(await saved({ savedAt: 1_000_001 })).toBe(1_000_000);
  expect(await saved({ savedAt: 1_000_002, hidden: [] })).toBe(1_000_002);
  expect(await saved({ savedAt: 1_000_002 + hour, hidden: [] })).toBe(1_000_002 + hour);
});

test.each([
  ["cut off", (text: string) => text.slice(0, -1)],
  ["not an object", () => "7"],
  ["a tool without a name", (text: string) => text.replace('"name":"read"', '"name":7')],
  ["a tool without a schema", (text: string) => text.replace('"inputSchema":{"type":"object"}', '"inputSchema":null')],
  ["a list that is none", (text: string) => text.replace('"resources":[', '"resources":{"a":[').replace("}],", "}]},")],
  ["an era from another world", (text: string) => text.replaceAll('"legacy"', '"baroque"')],
  ["a date that is none", (text: string) => text.replace('"savedAt":1000000', '"savedAt":"now"')],
])("a damaged file (%s) counts as none, and is replaced", async (_what, damage) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "key.json");
  await new CatalogStore(folder.path).save("key", remembered);
  const damaged = damage(await readFile(file, "utf8"));
  expect(damaged).not.toBe(await readFile(file, "utf8"));
  await writeFile(file, damaged);
  const store = new CatalogStore(folder.path);
  expect(await store.read("key")).toBeUndefined();
  await store.save("key", remembered);
  expect(await store.read("key")).toEqual(remembered);
});

test("a schema that is nested deeper than a stack holds costs its own depth, not the catalog", async () => {
  await using folder = await temporaryFolder();
  const deep = { name: "deep", inputSchema: JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) };
  const store = new CatalogStore(folder.path);
  await store.save("key", { ...remembered, catalog: { ...catalog, tools: [...catalog.tools, deep] } });
  const recalled = await new CatalogStore(folder.path).read("key");
  expect(recalled?.catalog.tools.map(({ name }) => name)).toEqual(["read", "deep"]);
});

test("a catalog that was not used for three months is removed, and so are the oldest of too many", async () => {
  await using folder = await temporaryFolder();
  const now = Date.now();
  const store = new CatalogStore(folder.path);
  await store.save("old", { ...remembered, savedAt: now });
  await utimes(join(folder.path, "old.json"), new Date(0), new Date(0));
  for (let index = 0; index < 505; index += 1) {
    const file = join(folder.path, `many-${index}.json`);
    await writeFile(file, "{}");
    await utimes(file, new Date(now), new Date(now - 100_000 + index));
  }
  await store.save("new", { ...remembered, savedAt: now });
  const names = await readdir(folder.path);
  expect(names).toHaveLength(500);
  expect(names).toContain("new.json");
  expect(names).not.toContain("old.json");
  expect(names).not.toContain("many-0.json");
});
