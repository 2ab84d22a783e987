import { expect, test } from "vitest";
import { type FoundTool, ToolSearch } from "../../src/search/tool-search.ts";
import type { SearchableServer } from "../../src/search/words.ts";
import { RegisteredTool, type RegisteredToolOptions } from "../../src/server/registered-tool.ts";

function tool(serverName: string, serverToolName: string, more: Partial<RegisteredToolOptions> = {}) {
  return new RegisteredTool({ serverName, serverToolName, description: "", parameterSchemaJson: {}, ...more });
}

const named = (found: readonly FoundTool[]): readonly string[] =>
  found.map(({ tool: { serverName, serverToolName } }) => `${serverName}/${serverToolName}`);

/** A search among tools that can be replaced later, and the servers that it has read. */
function searching(first: readonly RegisteredTool[], about: Readonly<Record<string, string>> = {}) {
  const [texts, read]: [Record<string, string>, string[]] = [{ ...about }, []];
  let tools = first;
  const aboutServer = (name: string): SearchableServer => {
    read.push(name);
    return { name, instructions: texts[name] };
  };
  const search = new ToolSearch(() => Promise.resolve(tools), aboutServer);
  return {
    read,
    texts,
    replace: (next: readonly RegisteredTool[]): void => {
      tools = next;
    },
    find: async (...queries: readonly string[]) => named(await search.find(queries, 10, () => true)),
    search,
  };
}

const [read, write] = [tool("disk", "read_file"), tool("disk", "Write.file", { nameOverride: "disk_writer" })];
const [cloudRead, forecast] = [tool("my.cloud", "read_file"), tool("sky", "forecast", { title: "Weather" })];
const all = [read, write, cloudRead, forecast];

test.each<[string, string, readonly string[]]>([
  ["the server's own name for the tool", "read_file", ["disk/read_file", "my.cloud/read_file"]],
  ["upper and lower case", "READ_File", ["disk/read_file", "my.cloud/read_file"]],
  ["the name for the model", "Disk_Writer", ["disk/Write.file"]],
  ["server and tool with a slash", "disk/read_file", ["disk/read_file"]],
  ["server and tool with a dot", "Disk.Read_File", ["disk/read_file"]],
  ["server and tool with two underscores", "disk__read_file", ["disk/read_file"]],
  ["server and tool that contain dots themselves", "my.cloud.read_file", ["my.cloud/read_file"]],
  ["a tool that contains a dot", "disk.write.file", ["disk/Write.file"]],
])("a tool is found exactly by %s: %s", async (_what, query, expected) => {
  const found = await searching(all).search.find([query], 10, () => true);
  expect(named(found.filter(({ score }) => score === 1000))).toEqual(expected);
});

test.each(["cloud.read_file", "disk/forecast", "disk-read_file", "disk/disk_writer", "read"])(
  "%s is no exact name",
  async (query) => {
    const found = await searching(all).search.find([query], 10, () => true);
    expect(found.filter(({ score }) => score === 1000)).toEqual([]);
  },
);

test("a tool whose two names are the same is found once, and given as it is", async () => {
  const found = await searching([read]).search.find(["read_file"], 10, () => true);
  expect(found).toHaveLength(1);
  expect(found[0]?.tool).toBe(read);
});

test("only the beginning of a long query is compared with names", async () => {
  const long = tool("disk", "x".repeat(1_000));
  const exact = async (query: string) => (await searching([long]).search.find([query], 10, () => true))[0]?.score;
  expect(await exact("x".repeat(1_000))).toBe(1_000);
  expect(await exact(`${"x".repeat(1_000)}y`)).toBe(1_000);
  expect(await exact("x".repeat(999))).toBeUndefined();
});

test("titles, descriptions, parameters and what the server says about itself are searched", async () => {
  const described = tool("disk", "a", { description: "Copies photographs." });
  const parameterSchemaJson = { type: "object", properties: { recursive: { type: "boolean" } } };
  const at = searching([described, tool("disk", "b", { parameterSchemaJson }), forecast], { sky: "Astronomy" });
  expect(await at.find("photographs")).toEqual(["disk/a"]);
  expect(await at.find("recursive")).toEqual(["disk/b"]);
  expect(await at.find("weather")).toEqual(["sky/forecast"]);
  expect(await at.find("astronomy")).toEqual(["sky/forecast"]);
});

test("a schema that is no object is not searched", async () => {
  expect(await searching([tool("disk", "a", { parameterSchemaJson: [] })]).find("a")).toEqual(["disk/a"]);
});

test("the servers are read again only when the tools are others", async () => {
  const at = searching(all);
  expect(at.read).toEqual([]);
  await Promise.all([at.find("file"), at.find("weather")]);
  expect(at.read).toEqual(["disk", "my.cloud", "sky"]);
  await at.find("file");
  expect(at.read).toHaveLength(3);
  at.replace([...all]);
  await at.find("file");
  expect(at.read).toHaveLength(6);
});

test("tools that came are found, and tools and servers that went are not", async () => {
  const at = searching([read, forecast]);
  expect(await at.find("weather")).toEqual(["sky/forecast"]);
  at.replace([read, tool("disk", "weather_log")]);
  expect(await at.find("weather")).toEqual(["disk/weather_log"]);
  // A tool that went takes no room among the tools that are found.
  expect(named(await at.search.find(["weather forecast"], 1, () => true))).toEqual(["disk/weather_log"]);
  at.replace([read, forecast]);
  expect(await at.find("weather")).toEqual(["sky/forecast"]);
});

test.each<[string, Partial<RegisteredToolOptions>]>([
  ["description", { description: "zebra" }],
  ["title", { title: "zebra" }],
  ["parameter", { parameterSchemaJson: { properties: { zebra: {} } } }],
])("a changed %s is found", async (_what, more) => {
  const at = searching([read]);
  expect(await at.find("zebra")).toEqual([]);
  at.replace([tool("disk", "read_file", more)]);
  expect(await at.find("zebra")).toEqual(["disk/read_file"]);
});

test("changed instructions of a server are found when its tools are read again", async () => {
  const at = searching([read]);
  expect(await at.find("zebra")).toEqual([]);
  at.texts["disk"] = "About a zebra.";
  at.replace([read]);
  expect(await at.find("zebra")).toEqual(["disk/read_file"]);
});

test("a failure to list the tools is reported, and the next search tries again", async () => {
  const failure = new Error("not now");
  let isReady = false;
  const tools = (): Promise<readonly RegisteredTool[]> => (isReady ? Promise.resolve([read]) : Promise.reject(failure));
  const search = new ToolSearch(tools, (name) => ({ name }));
  await expect(search.find(["file"], 10, () => true)).rejects.toBe(failure);
  isReady = true;
  expect(named(await search.find(["file"], 10, () => true))).toEqual(["disk/read_file"]);
});
