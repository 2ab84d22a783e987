import { expect, test } from "vitest";
import { toolsWithin } from "../../../src/host/requests/tools-within.ts";

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

test("all tools if they fit, else the first ones that do, in the order of the list", async () => {
  expect(await namesOf(tools, {}, rules)).toEqual(["a.one", "a.two", "b.one", "c.large"]);
  expect(await namesOf(tools, { tools: 2 }, rules)).toEqual(["a.one", "a.two"]);
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
