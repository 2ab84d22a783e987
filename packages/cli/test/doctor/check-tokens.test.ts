import { expect, test } from "vitest";
import { checkTokens } from "../../src/doctor/connect-and-check.ts";

const tool = (server: string, tokens: number, offered = true) => ({
  name: "t",
  server,
  serverToolName: "t",
  tokens,
  offered,
  reason: "",
});

test("the servers whose tools cost most are named", () => {
  const tools = [tool("a", 100), tool("b", 3_000), tool("c", 2_000, false), tool("d", 1_000), tool("b", 1_900)];
  expect(checkTokens(tools)).toEqual([
    {
      severity: "note",
      message:
        'tool definitions cost a model about 8000 tokens, 99 % of them for tools of "b", "c", "d"; a model is offered 4 of 5 tools and finds the others by search',
      next: "fairlead tools --tokens",
    },
  ]);
});

test("small costs are not mentioned", () => {
  expect(checkTokens([])).toEqual([]);
  expect(checkTokens([tool("a", 4_999)])).toEqual([]);
  expect(checkTokens([tool("a", 5_000)])).toHaveLength(1);
});
