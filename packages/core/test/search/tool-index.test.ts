import { expect, test } from "vitest";
import { type RankedTool, ToolIndex } from "../../src/search/tool-index.ts";
import type { SearchableTool } from "../../src/search/words.ts";

const files = [
  { name: "read_file", description: "Reads a file from the disk." },
  { name: "write_file", description: "Writes text to a file." },
  {
    name: "list_folder",
    description: "Lists a folder.",
    inputSchema: { properties: { recursive: { type: "boolean", description: "Also the folders inside." } } },
  },
];
const weather = [{ name: "forecast", description: "The weather of the next days." }];

async function filled() {
  const index = new ToolIndex();
  await index.set({ name: "disk" }, files);
  await index.set({ name: "sky", instructions: "Meteorological data for every city." }, weather);
  return index;
}

const names = (ranked: readonly RankedTool[]): readonly string[] =>
  ranked.map(({ server, tool }) => `${server}.${tool.name}`);

test.each([
  ["write to a file", "disk.write_file"],
  ["temperature tomorrow", "sky.forecast"],
  ["data of a city", "sky.forecast"],
  ["recursive", "disk.list_folder"],
  ["directories", "disk.list_folder"],
  ["wether", "sky.forecast"],
  ["save it to /home/me/notes.txt", "disk.write_file"],
])("%j finds %s first", async (query, first) => {
  expect(names((await filled()).rank(query, 10))[0]).toBe(first);
});

test("a query without a known word finds nothing", async () => {
  expect((await filled()).rank("zzzzzz 12345 the of", 10)).toEqual([]);
});

test("at most the wanted number of tools is found, best first", async () => {
  const ranked = (await filled()).rank("file folder", 2);
  expect(ranked).toHaveLength(2);
  expect(ranked[0]?.score).toBeGreaterThanOrEqual(ranked[1]?.score ?? Number.POSITIVE_INFINITY);
});

test("tools that a server has no longer are not found, and those of other servers stay", async () => {
  const index = await filled();
  await index.set({ name: "disk" }, [{ name: "weather_log", description: "Keeps the weather." }]);
  expect(names(index.rank("file", 10))).toEqual([]);
  expect(new Set(names(index.rank("weather", 10)))).toEqual(new Set(["disk.weather_log", "sky.forecast"]));
  await index.remove("disk");
  expect(names(index.rank("weather", 10))).toEqual(["sky.forecast"]);
});

test("a change that fails does not stop later changes", async () => {
  const index = new ToolIndex();
  const failure = new Error("unreadable");
  const unreadable: SearchableTool = {
    get name(): string {
      throw failure;
    },
  };
  const failed = index.set({ name: "disk" }, [...files, unreadable]);
  const later = index.set({ name: "sky" }, weather);
  await expect(failed).rejects.toBe(failure);
  await later;
  expect(names(index.rank("file weather", 10))).toEqual(["sky.forecast"]);
  // Words of the tools that failed do not count for the tools after them.
  expect(index.rank("file", 10)).toEqual([]);
  await index.remove("sky");
  expect(index.rank("weather", 10)).toEqual([]);
});

test("an index that was changed often ranks as a new one", async () => {
  const index = await filled();
  const many = Array.from({ length: 600 }, (_none, at) => ({ name: `count_${at}`, description: "Counts files." }));
  for (let round = 0; round < 5; round += 1) await index.set({ name: "many" }, many);
  await index.remove("many");
  await index.set({ name: "sky", instructions: "Meteorological data for every city." }, weather);
  const fresh = await filled();
  for (const query of ["file", "weather", "folders inside", "city"])
    expect(index.rank(query, 10)[0]).toMatchObject({ tool: { name: fresh.rank(query, 10)[0]?.tool.name } });
});

/** The name of the server is a word that the index leaves out, so only the texts of the tools count. */
const server = { name: "s" };
const scores = (ranked: readonly RankedTool[]): readonly (readonly [string, number])[] =>
  ranked.map(({ tool, score }) => [tool.name, Number(score.toFixed(6))]);

test("a tool scores by the rarity of the word and by its place; tools with equal scores keep their order", async () => {
  const index = new ToolIndex();
  const described = { name: "beta", description: "alpha" };
  await index.set(server, [{ name: "gamma" }, described, { name: "alpha" }, { name: "delta" }]);
  // Of 4 tools, 2 contain the word: ln(1 + 2 / 2.5) * f / (2 + f), with f = 3.797468 in a name, 2.053388 in a text.
  const expected = [
    ["alpha", 0.385013],
    ["beta", 0.297764],
  ];
  expect(scores(index.rank("alpha", 10))).toEqual(expected);
  expect(scores(index.rank("alpha", 1))).toEqual(expected.slice(0, 1));
  expect(index.rank("alpha", 1)).toEqual([{ server: "s", tool: { name: "alpha" }, score: expect.any(Number) }]);
  expect(index.rank("gamma delta", 10).map(({ tool }) => tool.name)).toEqual(["gamma", "delta"]);
  expect(index.rank("gamma delta", 1).map(({ tool }) => tool.name)).toEqual(["gamma"]);
});

test("tools of a removed server do not count for the rarity of a word", async () => {
  const index = new ToolIndex();
  const tools = [{ name: "alpha" }, { name: "beta", description: "alpha" }];
  await index.set({ name: "t" }, [{ name: "gamma" }, { name: "delta" }]);
  await index.set(server, tools);
  await index.remove("t");
  // Both of 2 tools contain the word: ln(1 + 0.5 / 2.5).
  expect(scores(index.rank("alpha", 10))).toEqual([
    ["alpha", 0.119425],
    ["beta", 0.092361],
  ]);
  const fresh = new ToolIndex();
  await fresh.set(server, tools);
  expect(index.rank("alpha", 10)).toEqual(fresh.rank("alpha", 10));
});

test("an index with over 1000 more removed tools than current ones is rebuilt and scores as a new one", async () => {
  const one = [{ name: "alpha" }];
  const fresh = new ToolIndex();
  await fresh.set(server, one);
  const index = new ToolIndex();
  await index.set(
    server,
    Array.from({ length: 1001 }, () => ({ name: "alpha" })),
  );
  await index.set(server, one);
  expect(index.rank("alpha", 10)).not.toEqual(fresh.rank("alpha", 10));
  await index.set(server, one);
  expect(index.rank("alpha", 10)).toEqual(fresh.rank("alpha", 10));
});

/** Fills the index and returns how often other work got its turn meanwhile. */
async function turnsDuring(servers: readonly (readonly SearchableTool[])[]): Promise<number> {
  const index = new ToolIndex();
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  for (const [at, tools] of servers.entries()) await index.set({ name: `server ${at}` }, tools);
  isDone = true;
  return turns;
}

const named = (many: number, description: string): readonly SearchableTool[] =>
  Array.from({ length: many }, (_none, at) => ({ name: `tool_${at}`, description }));

test.each([
  ["a large server", [named(2000, "Does one thing.")]],
  ["many small servers", Array.from({ length: 1000 }, () => named(2, "Does one thing."))],
  ["long descriptions", [named(60, "It does one thing or another. ".repeat(200))]],
])("other work gets its turn while the index reads %s", async (_what, servers) => {
  expect(await turnsDuring(servers)).toBeGreaterThan(20);
});
