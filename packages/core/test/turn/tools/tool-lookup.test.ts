import { expect, test } from "vitest";
import { createToolLookups, type LookupSource } from "../../../src/turn/tools/tool-lookup.ts";
import { sampleTool } from "../../support/sample-tools.ts";

const every = [sampleTool("a", "x"), sampleTool("b", "x"), sampleTool("b", "y")];
const source = (servers?: readonly string[]): LookupSource => ({ every, dialect: "gemini", servers });

test("a lookup has the tools of the chosen servers, by name and by key", async () => {
  const lookups = createToolLookups();
  for (const look of [lookups.prepare, async (given: LookupSource) => lookups.now(given)]) {
    const { tools, byName, byKey } = await look(source(["b"]));
    expect(tools.map(({ serverName, serverToolName }) => `${serverName}.${serverToolName}`)).toEqual(["b.x", "b.y"]);
    expect([[...byName.values()], [...byKey.values()]]).toEqual([tools, tools]);
    expect((await look(source())).tools).toHaveLength(3);
  }
});

test("the last lookup is used again only for the same tools and the same servers", async () => {
  const lookups = createToolLookups();
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
