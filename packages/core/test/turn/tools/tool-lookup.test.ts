import { expect, test } from "vitest";
import { type LookupSource, ToolLookups } from "../../../src/turn/tools/conversation-tools.ts";
import { sampleTool } from "../../support/sample-tools.ts";

const every = [sampleTool("a", "x"), sampleTool("b", "x"), sampleTool("b", "y")];
const source = (servers?: readonly string[]): LookupSource => ({ every, dialect: "gemini", servers });

test("a lookup has the tools of the chosen servers, by name and by key", async () => {
  const lookups = new ToolLookups();
  for (const way of ["prepare", "now"] as const) {
    const { tools, byName, byKey } = await lookups[way](source(["b"]));
    expect(tools.map(({ serverName, serverToolName }) => `${serverName}.${serverToolName}`)).toEqual(["b.x", "b.y"]);
    expect([[...byName.values()], [...byKey.values()]]).toEqual([tools, tools]);
    expect((await lookups[way](source())).tools).toHaveLength(3);
  }
});

test("the last lookup is used again only for the same tools and the same servers", async () => {
  const lookups = new ToolLookups();
  const all = await lookups.prepare(source());
  expect([lookups.now(source()) === all, (await lookups.prepare(source())) === all]).toEqual([true, true]);
  let last = all;
  for (const servers of [["a"], undefined, ["a"], ["a", "b"], ["b", "a"], []] as const) {
    const next = lookups.now(source(servers));
    expect(next).not.toBe(last);
    expect(lookups.now(source(servers && [...servers]))).toBe(next);
    last = next;
  }
  expect(lookups.now({ ...source([]), every: [...every] })).not.toBe(last);
});
