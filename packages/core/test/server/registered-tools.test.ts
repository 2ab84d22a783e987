import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { RegisteredTools } from "../../src/server/registries.ts";
import { namesOf, sampleTool } from "../support/sample-tools.ts";
import { turnsUntil } from "../support/turns-until.ts";

const offered = (server: string, ...tools: readonly string[]) => tools.map((tool) => sampleTool(server, tool));
const compile = () => ({ kind: "quarantined" as const, reason: "it is a bomb" });

describe("names", () => {
  test("without an order, who is registered first keeps the bare name", () => {
    const registry = new RegisteredTools();
    registry.registerTool(sampleTool("web", "search"));
    registry.registerTool(sampleTool("docs", "search"));
    expect(namesOf(registry.getAllTools())).toEqual({ "web/search": "search", "docs/search": "docs__search" });
    expect(registry.getTool("docs__search")?.serverName).toBe("docs");
  });

  test("a tool that its maker has qualified keeps that name", () => {
    const registry = new RegisteredTools();
    registry.registerTool(sampleTool("web", "search").asFullyQualifiedTool());
    registry.registerTool(sampleTool("docs", "search"));
    expect(namesOf(registry.getAllTools())).toEqual({ "web/search": "web__search", "docs/search": "search" });
  });

  test("with an order, neither the order of registration nor an earlier lookup matters", () => {
    const registry = new RegisteredTools({ serverOrder: ["a", "b", "c"], alwaysQualified: ["demo"] });
    registry.replaceServer("demo", offered("demo", "x", "y"));
    registry.replaceServer("c", offered("c", "x"));
    expect(namesOf(registry.getAllTools())).toEqual({ "c/x": "x", "demo/x": "demo__x", "demo/y": "demo__y" });
    registry.replaceServer("b", offered("b", "x"));
    registry.replaceServer("a", offered("a", "z"));
    expect(namesOf(registry.getAllTools())).toEqual({
      "a/z": "z",
      "b/x": "x",
      "c/x": "c__x",
      "demo/x": "demo__x",
      "demo/y": "demo__y",
    });
  });

  test("servers that the order does not know come after the others, and keep their place", () => {
    const registry = new RegisteredTools({ serverOrder: ["last"] });
    registry.removeServer("two");
    for (const server of ["one", "two", "last"]) registry.replaceServer(server, offered(server, "x"));
    registry.removeServer("one");
    expect(registry.getTool("x")?.serverName).toBe("last");
    registry.removeServer("last");
    expect(registry.getTool("x")?.serverName).toBe("two");
    registry.replaceServer("one", offered("one", "x"));
    expect(registry.getTool("x")?.serverName).toBe("one");
  });

  test("what was read from a registry can be put back and is named as before", () => {
    const registry = new RegisteredTools({ serverOrder: ["a", "b"] });
    for (const server of ["a", "b"]) registry.replaceServer(server, offered(server, "x"));
    registry.replaceServer("b", registry.getToolsByServer("b"));
    registry.removeServer("a");
    expect(namesOf(registry.getAllTools())).toEqual({ "b/x": "x" });
  });

  test("a tool whose name stays is the same object, whatever other servers do", () => {
    const registry = new RegisteredTools();
    for (const server of ["a", "b"]) registry.replaceServer(server, offered(server, "x"));
    const held = registry.getTool("b__x");
    registry.replaceServer("c", offered("c", "x"));
    expect(registry.getTool("b__x")).toBe(held);
  });
});

describe("a server's tools", () => {
  test("are replaced and removed as a whole", () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", offered("a", "x", "y"));
    registry.replaceServer("a", offered("a", "y", "z"));
    expect(registry.getToolsByServer("a").map(({ name }) => name)).toEqual(["y", "z"]);
    expect(registry.find("a", "x")).toBeUndefined();
    registry.removeServer("a");
    expect([registry.getAllTools(), registry.getToolsByServer("a"), registry.getTool("y")]).toEqual([
      [],
      [],
      undefined,
    ]);
  });

  test("stay as they were if one of the new ones belongs to another server", () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", offered("a", "x"));
    expect(() => registry.replaceServer("a", [...offered("a", "y"), ...offered("b", "z")])).toThrow(
      new HostError("usage", '"z" belongs to "b", not to "a"'),
    );
    expect(namesOf(registry.getAllTools())).toEqual({ "a/x": "x" });
  });

  test("stay as they were if the new ones cannot be read to their end", () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", offered("a", "x"));
    function* broken() {
      yield sampleTool("a", "y");
      throw new Error("broken");
    }
    expect(() => registry.replaceServer("a", broken())).toThrow("broken");
    expect(namesOf(registry.getAllTools())).toEqual({ "a/x": "x" });
  });

  test("of two with one name, the first stays", () => {
    const [first, second, third] = ["1", "2", "3"].map((description) => sampleTool("a", "x", { description }));
    const registry = new RegisteredTools();
    registry.replaceServer(
      "a",
      [first, second].flatMap((tool) => tool ?? []),
    );
    if (third) registry.registerTool(third);
    expect(registry.getAllTools()).toEqual([first]);
    expect(registry.getAllTools()[0]).toBe(first);
  });
});

describe("in quarantine", () => {
  test("are tools without a name, over the limit or with an unusable schema; the others are offered", () => {
    const registry = new RegisteredTools({ toolsPerServer: 2 });
    registry.replaceServer("a", [sampleTool("a", ""), sampleTool("a", "x", { compile }), ...offered("a", "y", "z")]);
    registry.replaceServer("b", offered("b", "x"));
    expect(registry.quarantined()).toEqual([
      { server: "a", serverToolName: "x", reason: "it is a bomb" },
      { server: "a", serverToolName: "", reason: "it has no name" },
      {
        server: "a",
        serverToolName: "z",
        reason: "only the first 2 tools of a server are used; to choose others, use includeTools or excludeTools",
      },
    ]);
    expect(registry.getFunctionDeclarations().map(({ name }) => name)).toEqual(["y", "b__x"]);
    expect([registry.getTool("x"), registry.find("a", "x"), registry.find("a", "z")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(registry.getToolsByServer("a").map(({ name }) => name)).toEqual(["y"]);
  });

  test("by default, what comes after the first 10 000 tools of a server", () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", offered("a", ...Array.from({ length: 10_002 }, (_, at) => `t${at}`)));
    expect(registry.getEveryTool()).toHaveLength(10_000);
    expect(registry.leftOut().map(({ serverToolName }) => serverToolName)).toEqual(["t10000", "t10001"]);
  });
});

describe("very many tools are named in slices", () => {
  const many = (server: string, count: number) => () =>
    offered(server, ...Array.from({ length: count }, (_, at) => `t${at}`));

  test("between them other work has its turn, and the names are the same", async () => {
    const [sliced, whole] = [new RegisteredTools(), new RegisteredTools()];
    for (const registry of [sliced, whole])
      for (const server of ["a", "b"]) registry.replaceServer(server, many(server, 3000));
    expect(await turnsUntil(sliced.ready())).toBeGreaterThan(20);
    expect(namesOf(sliced.getAllTools())).toEqual(namesOf(whole.getAllTools()));
    // What is done is not done again.
    const tools = sliced.getEveryTool();
    expect(await turnsUntil(sliced.ready())).toBe(1);
    expect(sliced.getEveryTool()).toBe(tools);
  });

  test("a use meanwhile, or a change, gives the tools of the moment", async () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", many("a", 3000));
    const first = registry.ready();
    const used = registry.getEveryTool();
    expect(used).toHaveLength(3000);
    await first;
    expect(registry.getEveryTool()).toBe(used);
    registry.replaceServer("b", many("b", 3000));
    const second = registry.ready();
    registry.replaceServer("c", offered("c", "x"));
    await second;
    expect(registry.getEveryTool()).toHaveLength(6001);
    expect(registry.find("a", "t0")).toBe(used[0]);
  });
});

test("declarations are what the model is shown: the registry's names, the compiled schemas", () => {
  const registry = new RegisteredTools();
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { q: { type: "string" } },
  };
  registry.registerTool(sampleTool("a", "1", { description: "One\u200b.", parameterSchemaJson: schema }));
  expect(registry.getFunctionDeclarations()).toEqual([
    {
      name: "_1",
      description: "One.",
      parametersJsonSchema: { type: "object", properties: { q: { type: "string" } } },
    },
  ]);
});
