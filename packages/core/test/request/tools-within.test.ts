import { expect, test } from "vitest";
import { toolsWithin } from "../../src/host/tools-within.ts";

const tools = ["a.one", "a.two", "b.one", "c.large"].map((name) => {
  const [serverName = "", serverToolName = ""] = name.split(".");
  return {
    serverName,
    serverToolName,
    definition: { name, text: serverToolName === "large" ? "word ".repeat(500) : "" },
  };
});
const rules = { isAlwaysLoaded: () => false, used: [] };
const namesOf = async (...given: Parameters<typeof toolsWithin>): Promise<unknown> =>
  (await toolsWithin(...given)).map(({ definition }) => definition["name"]);

test("all tools if they fit, else the first ones of each server that do, in the order of the list", async () => {
  expect(await namesOf(tools, {}, rules)).toEqual(["a.one", "a.two", "b.one", "c.large"]);
  expect(await namesOf(tools, { tools: 2 }, rules)).toEqual(["a.one", "b.one"]);
  expect(await namesOf(tools, { tools: 3 }, rules)).toEqual(["a.one", "b.one", "c.large"]);
  expect(await namesOf(tools, { tokens: 100 }, rules)).toEqual(["a.one", "a.two", "b.one"]);
  expect(await namesOf(tools, { tools: 0 }, rules)).toEqual([]);
});

test("tools of servers with alwaysLoad come first, then tools that were used before", async () => {
  const used = [{ serverName: "a", serverToolName: "two" }];
  expect(await namesOf(tools, { tools: 2 }, { isAlwaysLoaded: (server) => server === "b", used })).toEqual([
    "a.two",
    "b.one",
  ]);
});

test("a tool that was used and is gone, or used twice, takes no place", async () => {
  const used = ["c.gone", "b.one", "b.one"].map((name) => {
    const [serverName = "", serverToolName = ""] = name.split(".");
    return { serverName, serverToolName };
  });
  expect(await namesOf(tools, { tools: 2 }, { ...rules, used })).toEqual(["a.one", "b.one"]);
});

test("a tool that does not fit leaves its room to the next ones", async () => {
  const [one, two, other, large] = tools;
  const turned = [large, one, two, other].flatMap((tool) => tool ?? []);
  expect(await namesOf(turned, { tokens: 100 }, rules)).toEqual(["a.one", "a.two", "b.one"]);
  expect(await namesOf(turned, { tokens: 0 }, rules)).toEqual([]);
});

const manyOf = (server: string, count: number, text = "") =>
  Array.from({ length: count }, (_none, at) => ({
    serverName: server,
    serverToolName: `tool_${at}`,
    definition: { name: `${server}.tool_${at}`, text },
  }));
const countsOf = async (...given: Parameters<typeof toolsWithin>): Promise<unknown> => {
  const counts: Record<string, number> = {};
  for (const { serverName } of await toolsWithin(...given)) counts[serverName] = (counts[serverName] ?? 0) + 1;
  return counts;
};

test("a server with very many tools leaves the other servers their places, wherever it is in the list", async () => {
  const [flood, mail, files] = [manyOf("flood", 500), manyOf("mail", 4), manyOf("files", 30)];
  const expected = { flood: 8, mail: 4, files: 8 };
  expect(await countsOf([...flood, ...mail, ...files], { tools: 20 }, rules)).toEqual(expected);
  expect(await countsOf([...mail, ...files, ...flood], { tools: 20 }, rules)).toEqual(expected);
  expect(await countsOf([...flood, ...mail], { tools: 20 }, rules)).toEqual({ flood: 16, mail: 4 });
  expect(await countsOf(flood, { tools: 20 }, rules)).toEqual({ flood: 20 });
});

test("large definitions take no more of the tokens than small ones of other servers", async () => {
  const [large, small] = [manyOf("large", 50, "word ".repeat(100)), manyOf("small", 50)];
  const { small: kept } = (await countsOf([...large, ...small], { tokens: 1500 }, rules)) as { small: number };
  expect(kept).toBe(50);
});

test("tools of a server that were used count for its turns", async () => {
  const used = manyOf("flood", 6);
  expect(await countsOf([...manyOf("flood", 50), ...manyOf("mail", 50)], { tools: 12 }, { ...rules, used })).toEqual({
    flood: 6,
    mail: 6,
  });
});
