import { describe, expect, test } from "vitest";
import { findListed, findTool, toolNamed } from "../../src/execute/executor.ts";
import { filterCatalog } from "../../src/server/filtered-catalog.ts";

const tools = ["greet", "wave"].map((name) => ({ name, inputSchema: {} }));
const rest = { prompts: [], resources: [], resourceTemplates: [], dropped: [], repaired: [], truncated: [] };
const filteredCatalog = filterCatalog(
  { tools, ...rest },
  { serverName: "s", filter: { excludeTools: ["wave"] }, mayGrow: false },
);

test("a tool is found by the name that its server gave it", () => {
  expect(findTool({ name: "s", filteredCatalog }, "greet")).toBe(tools[0]);
});

describe("a tool that is not there", () => {
  test.each<[string, object]>([
    [
      "gret",
      { code: "tool_unknown", message: '"s" has no tool "gret"; did you mean "greet"?', next: "fairlead tools s" },
    ],
    ["sink", { code: "tool_unknown", message: '"s" has no tool "sink"', next: "fairlead tools s" }],
    [
      "wave",
      {
        code: "denied",
        message: 's.wave denied: excludeTools of "s" in the settings excludes it',
        next: 'Change excludeTools of "s" in the settings.',
      },
    ],
  ])("%s", (tool, error) => {
    expect(() => findTool({ name: "s", filteredCatalog }, tool)).toThrow(
      expect.objectContaining({ serverName: "s", ...error }) as Error,
    );
  });

  test("nothing is known of a server that has not been discovered", () => {
    expect(() => findTool({ name: "s", filteredCatalog: undefined }, "greet")).toThrow(
      expect.objectContaining({ code: "tool_unknown" }) as Error,
    );
  });
});

test("a tool that is not listed is nothing, unless a filter hides it", () => {
  expect(findListed({ name: "s", filteredCatalog }, "sink")).toBeUndefined();
  expect(findListed({ name: "s", filteredCatalog: undefined }, "greet")).toBeUndefined();
  expect(() => findListed({ name: "s", filteredCatalog }, "wave")).toThrow("s.wave denied");
});

test("of two tools with one name, the first counts, however often they are looked for", () => {
  const twins = [1, 2].map((minProperties) => ({ name: "twin", inputSchema: { minProperties } }));
  expect([toolNamed(twins, "twin"), toolNamed(twins, "twin"), toolNamed(twins, "other")]).toEqual([
    twins[0],
    twins[0],
    undefined,
  ]);
});
