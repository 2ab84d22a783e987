import { describe, expect, test } from "vitest";
import type { ToolFilter } from "../../src/normalise/filter.ts";
import type { Catalog } from "../../src/server/catalog.ts";
import { filterCatalog } from "../../src/server/filtered-catalog.ts";

const empty: Catalog = {
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  dropped: [],
  repaired: [],
  truncated: [],
};
const tools = ["read", "write"].map((name) => ({ name, inputSchema: {} }));
const prompts = [{ name: "p", arguments: [] }];
const none: ToolFilter = { excludeTools: [] };

const filtered = (catalog: Partial<Catalog>, filter: ToolFilter = none, mayGrow = false) =>
  filterCatalog({ ...empty, ...catalog }, { serverName: "s", filter, mayGrow });

test("filtered tools are not offered, and each is known with the setting that takes it out", () => {
  const filter = { includeTools: ["read", "draw"], excludeTools: ["draw"] };
  const { catalog, hidden, offer } = filtered(
    { tools: [...tools, { name: "draw", inputSchema: {} }], prompts },
    filter,
  );
  expect(catalog).toEqual({ ...empty, tools: [tools[0]], prompts });
  expect([...hidden]).toEqual([
    ["write", "includeTools"],
    ["draw", "excludeTools"],
  ]);
  expect(offer).toEqual({ tools: 1, prompts: 1, resources: 0, resourceTemplates: 0 });
});

test("a list that was cut at a limit of the settings is noted; one that was cut otherwise is not", () => {
  const truncated = [
    { kind: "tools", reason: "larger than 1 MB (x.y)", setting: "x.y" },
    { kind: "prompts", reason: "more than 100 pages" },
  ] as const;
  expect(filtered({ tools, truncated }).offer.note).toBe("the list of tools is cut: larger than 1 MB (x.y)");
  expect(() => filtered({ truncated })).toThrow(
    expect.objectContaining({
      code: "too_large",
      message: '"s" offers nothing that can be used: larger than 1 MB (x.y)',
      next: 'raise "x.y" in settings.json',
    }),
  );
});

test("templates alone are something", () => {
  const resourceTemplates = [{ uriTemplate: "x://{n}", name: "n" }];
  expect(filtered({ resourceTemplates }).offer).toEqual({ tools: 0, prompts: 0, resources: 0, resourceTemplates: 1 });
});

describe("without tools, the offer says why if that is known", () => {
  test.each<[string, Partial<Catalog>, ToolFilter, boolean, string | undefined]>([
    ["it has other things", { prompts }, none, false, undefined],
    ["it may get some", {}, none, true, "0 tools yet"],
    ["a filter", { tools, prompts }, { excludeTools: ["*"] }, false, "excludeTools hides all of its 2 tools"],
    [
      "a filter, for now",
      { tools },
      { includeTools: [], excludeTools: [] },
      true,
      "includeTools hides all of its 2 tools",
    ],
    [
      "two filters",
      { tools, prompts },
      { includeTools: ["read"], excludeTools: ["read"] },
      false,
      "excludeTools and includeTools hide all of its 2 tools",
    ],
  ])("%s", (_, catalog, filter, mayGrow, note) => {
    expect(filtered(catalog, filter, mayGrow).offer.note).toBe(note);
  });
});

describe("a server that is of no use", () => {
  test("offers nothing", () => {
    expect(() => filtered({})).toThrow(
      expect.objectContaining({
        code: "no_capabilities",
        message: '"s": No prompts, tools, or resources found on the server',
        serverName: "s",
      }),
    );
  });

  test("offers nothing that can be used: what was dropped is named", () => {
    const dropped = [
      { kind: "tools", reason: "it has no name" },
      { kind: "prompts", reason: "prompts/list failed: no" },
    ] as const;
    expect(() => filtered({ dropped })).toThrow(
      '"s": No prompts, tools, or resources found on the server; invalid items: 2, the first in tools: it has no name',
    );
  });

  test("offers nothing that its entry lets through: the filter is named, and that it can be changed", () => {
    expect(() => filtered({ tools }, { excludeTools: ["read", "write"] })).toThrow(
      expect.objectContaining({
        code: "no_capabilities",
        message: '"s" offers nothing that can be used: excludeTools hides all of its 2 tools',
        next: 'Change excludeTools of "s" in settings.json.',
      }),
    );
  });
});
