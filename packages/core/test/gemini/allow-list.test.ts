import { expect, test } from "vitest";
import { createAllowList } from "../../src/gemini/allow-list.ts";

test("a server is allowed as a whole, a tool alone, and no name is taken for another", () => {
  const list = createAllowList();
  list.addTool("a", "one");
  list.addTool("a", "two");
  list.addServer("b");
  const asked = ["a one", "a two", "a three", "b one", "c one", "a.b c", "a.one x"].map((text) => text.split(" "));
  expect(asked.map(([server = "", tool = ""]) => list.allows(server, tool))).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
    false,
  ]);
});
