import { describe, expect, test } from "vitest";
import { createTurns } from "../../../src/text/turns.ts";
import {
  type BudgetedTool,
  type BudgetRules,
  byServerAndName,
  contextOf,
  planOffer,
  roomFor,
  tokensWithin,
  weightOf,
} from "../../../src/turn/tools/tool-offer.ts";

const tool = (key: string, tokens: number | undefined = 10, size = 1): BudgetedTool => {
  const [server = "", name = ""] = key.split(".");
  return { key, server, name, size, tokens: () => tokens };
};

async function planned(tools: readonly BudgetedTool[], rules: Partial<BudgetRules> = {}) {
  const room = { tokens: 40, count: 100 };
  const plan = await planOffer(tools, { room, isAlwaysLoaded: () => false, usedBefore: [], ...rules }, createTurns());
  return [...plan];
}

const [everything, always, used, whole] = [
  "every tool fits into the budget",
  "alwaysLoad is set for the server",
  "the tool was used before in this workspace",
  "all tools of this server fit into the budget",
] as const;
/** Five tools of 10 tokens, for which 40 tokens are too few and 30 of them are used. */
const five = [tool("b.2"), tool("b.1"), tool("a.1"), tool("c.1"), tool("c.2")];

describe("tools are offered", () => {
  test("all, if they fit exactly", async () => {
    expect(await planned(five.slice(0, 4))).toEqual(five.slice(0, 4).map(({ key }) => [key, everything]));
  });

  test("else those of the smallest servers, as long as a quarter of the budget stays free", async () => {
    expect(await planned(five)).toEqual([
      ["a.1", whole],
      ["b.2", whole],
      ["b.1", whole],
    ]);
    const large = [tool("a.1", 10, 9), ...five.filter(({ server }) => server !== "a")];
    expect((await planned(large)).map(([key]) => key)).toEqual(["b.2", "b.1", "a.1"]);
  });

  test("first those of servers with alwaysLoad, by name, then those that were used last", async () => {
    const isAlwaysLoaded = (server: string): boolean => server === "b";
    expect(await planned(five, { isAlwaysLoaded, usedBefore: ["b.1", "x.1", "c.2", "c.1"] })).toEqual([
      ["b.1", always],
      ["b.2", always],
      ["c.2", used],
    ]);
    expect(await planned(five, { usedBefore: ["c.2", "a.1", "b.1"] })).toEqual([
      ["c.2", used],
      ["a.1", used],
      ["b.1", used],
    ]);
  });

  test("so that a large one does not keep out a smaller one, and the rest of its server follows", async () => {
    const tools = [tool("a.1", 31), tool("a.2", 20), tool("b.1", 10)];
    expect(await planned(tools, { usedBefore: ["a.1", "a.2"] })).toEqual([
      ["a.2", used],
      ["b.1", whole],
    ]);
    const rest = [tool("a.1"), tool("a.2"), tool("b.1", 40)];
    expect(await planned(rest, { usedBefore: ["a.2"] })).toEqual([
      ["a.2", used],
      ["a.1", whole],
    ]);
  });

  test("up to three quarters of the number that the model takes", async () => {
    const room = { tokens: 1_000, count: 4 };
    expect((await planned(five, { room })).map(([key]) => key)).toEqual(["a.1", "b.2", "b.1"]);
    expect(await planned(five, { room: { tokens: 1_000, count: 5 } })).toHaveLength(5);
  });
});

test.each<[string, readonly BudgetedTool[], number | undefined]>([
  ["fit exactly", [tool("a.1", 15), tool("a.2", 25)], 40],
  ["are one too many tokens", [tool("a.1", 15), tool("a.2", 26)], undefined],
  ["cannot be declared", [tool("a.1", 15), { ...tool("a.2"), tokens: () => undefined }], 15],
  ["are too many", [tool("a.1", 1), tool("a.2", 1), tool("a.3", 1)], undefined],
  ["may have eight characters for each token", [tool("a.1", 1, 160), tool("a.2", 1, 160)], 2],
  ["are certainly too long", [tool("a.1", 1, 160), tool("a.2", 1, 161)], undefined],
])("the tokens of tools that %s", async (_what, tools, expected) => {
  expect(await tokensWithin(tools, { tokens: 40, count: 2 }, createTurns())).toBe(expected);
});

test("a schema that cannot fit is not compiled", async () => {
  const tokens = (): number => {
    throw new Error("compiled");
  };
  const room = { tokens: 40, count: 2 };
  expect(await tokensWithin([{ ...tool("a.1"), size: 321, tokens }], room, createTurns())).toBeUndefined();
});

test("the weight of a definition grows with its size", () => {
  expect([weightOf(0), weightOf(1_000)]).toEqual([10, 20]);
});

test("tools are ordered by server, then by name", () => {
  const keys = ["b.1", "a.2", "a.1", "B.1", "a.1"];
  expect(
    keys
      .map((key) => tool(key))
      .sort(byServerAndName)
      .map(({ key }) => key),
  ).toEqual(["B.1", "a.1", "a.1", "a.2", "b.1"]);
});

test.each([
  [{}, undefined, 128_000],
  [{ contextTokens: 8_000 }, undefined, 8_000],
  [{ contextTokens: 8_000 }, 9_000, 9_000],
])("the context of the model %j with the setting %s has %i tokens", (model, setting, expected) => {
  expect(contextOf(model, setting)).toBe(expected);
});

test.each<[Parameters<typeof roomFor>, { readonly tokens: number; readonly count: number }]>([
  [[{ maxDeclarations: 128 }], { tokens: 11_520, count: 128 }],
  [[{ maxDeclarations: 128, contextTokens: 1_000_000 }], { tokens: 18_000, count: 128 }],
  [[{ maxDeclarations: 128, contextTokens: 8_000 }], { tokens: 720, count: 128 }],
  [[{ maxDeclarations: 128 }, { tokens: 30_000, tools: 40 }], { tokens: 27_000, count: 40 }],
  [[{ maxDeclarations: 128 }, { tools: 400 }], { tokens: 11_520, count: 128 }],
])("the room for %j is %j", (given, expected) => {
  expect(roomFor(...given)).toEqual(expected);
});
