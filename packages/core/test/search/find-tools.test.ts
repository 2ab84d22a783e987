import { expect, test } from "vitest";
import { findTools } from "../../src/search/tool-search.ts";

const tool = (server: string, name: string) => ({ server, tool: { name } });
const [a1, a2, b1, b2] = [tool("a", "one"), tool("a", "two"), tool("b", "one"), tool("b", "two")];
const ranks: Readonly<Record<string, readonly ReturnType<typeof tool>[]>> = { first: [a1, a2], second: [b1, a1, b2] };

async function found(queries: readonly string[], limit = 10): Promise<readonly string[]> {
  const index = { rank: (query: string) => (ranks[query] ?? []).map((one, at) => ({ ...one, score: 10 - at })) };
  const named = (name: string) =>
    [a1, a2, b1, b2].filter((one) => [one.tool.name, `${one.server}/${one.tool.name}`].includes(name));
  return (await findTools(queries, { index, named, limit, isWanted: () => true })).map(
    (one) => `${one.server}/${one.tool.name}`,
  );
}

test("several queries take turns, and no tool comes twice", async () => {
  expect(await found(["first", "second"])).toEqual(["a/one", "b/one", "a/two", "b/two"]);
  expect(await found(["first", "second"], 3)).toEqual(["a/one", "b/one", "a/two"]);
});

test("exact names come before what is ranked", async () => {
  expect(await found(["b/two"])).toEqual(["b/two"]);
  expect(await found([" two "])).toEqual(["a/two", "b/two"]);
  expect(await found(["select:b/two, a/one"])).toEqual(["b/two", "a/one"]);
  expect(await found(["first", "b/two"])).toEqual(["a/one", "b/two", "a/two"]);
});

test("no query finds nothing", async () => {
  expect(await found([])).toEqual([]);
  expect(await found([""])).toEqual([]);
});

test("other work gets its turn between two queries, but not before the first", async () => {
  const order: string[] = [];
  const index = {
    rank: (query: string) => {
      order.push(query);
      return [];
    },
  };
  const search = findTools(["one", "two"], { index, named: () => [], limit: 10, isWanted: () => true });
  order.push("other work");
  await search;
  expect(order).toEqual(["one", "other work", "two"]);
});

test("a tool that is found by its name has the highest score", async () => {
  const index = { rank: () => [{ ...b1, score: 5 }] };
  expect(await findTools(["one"], { index, named: () => [a1], limit: 10, isWanted: () => true })).toEqual([
    { ...a1, score: 1000 },
    { ...b1, score: 5 },
  ]);
});
