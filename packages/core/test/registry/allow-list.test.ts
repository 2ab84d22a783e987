import { expect, test } from "vitest";
import type { CallableTool } from "../../src/normalise/model-types.ts";
import { allowListOf, createAllowList, shareAllowList } from "../../src/registry/allow-list.ts";

const callable = (): CallableTool => ({ tool: async () => ({ functionDeclarations: [] }), callTool: async () => [] });

test("a server is allowed as a whole, a tool alone, and no name is taken for another", () => {
  const list = createAllowList();
  list.addTool("a", "one");
  list.addTool("a", "two");
  list.addServer("b");
  const asked = ["a one", "a two", "a three", "b one", "c one", "a.b c"].map((text) => text.split(" "));
  expect(asked.map(([server = "", tool = ""]) => list.allows(server, tool))).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
  ]);
});

test("tools of one connection share their approvals, and those of another connection do not", () => {
  const [first, second, other] = [callable(), callable(), callable()];
  const connection = {};
  shareAllowList(first, connection);
  shareAllowList(second, connection);
  shareAllowList(other, {});
  allowListOf(first).addServer("s");
  expect([first, second, other].map((each) => allowListOf(each).allows("s", "t"))).toEqual([true, true, false]);
});

test("a tool has the same approvals each time, and what is no tool has none to share", () => {
  const tool = callable();
  allowListOf(tool).addTool("s", "t");
  expect(allowListOf(tool).allows("s", "t")).toBe(true);
  allowListOf(undefined).addServer("s");
  expect(allowListOf(undefined).allows("s", "t")).toBe(false);
});
