import { describe, expect, test } from "vitest";
import { ConversationTools } from "../../src/server/pinned-tools.ts";
import { RegisteredTools } from "../../src/server/registries.ts";
import { namesOf, sampleTool } from "../support/sample-tools.ts";
import { turnsUntil } from "../support/turns-until.ts";

const offered = (server: string, ...tools: readonly string[]) => tools.map((tool) => sampleTool(server, tool));

test("a server that arrives later is qualified, even where a new conversation would give it the bare name", () => {
  const registry = new RegisteredTools({ serverOrder: ["a", "b"] });
  registry.replaceServer("b", offered("b", "x"));
  const conversation = new ConversationTools(registry);
  registry.replaceServer("a", offered("a", "x", "y"));
  expect(namesOf(conversation.getAllTools())).toEqual({ "b/x": "x", "a/x": "a__x", "a/y": "a__y" });
  expect(namesOf(new ConversationTools(registry).getAllTools())).toEqual({ "b/x": "b__x", "a/x": "x", "a/y": "y" });
});

test("a tool that is gone leaves its name unused, and finds it again", () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", offered("a", "x"));
  registry.replaceServer("b", offered("b", "x"));
  const conversation = new ConversationTools(registry);
  registry.removeServer("a");
  expect(conversation.getTool("x")).toBeUndefined();
  expect(namesOf(conversation.getAllTools())).toEqual({ "b/x": "b__x" });
  registry.replaceServer("a", offered("a", "x"));
  expect(conversation.getTool("x")?.serverName).toBe("a");
});

test("a name is not passed on when a server lists its tools in another order", () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", offered("a", "x y", "x_y"));
  const conversation = new ConversationTools(registry);
  registry.replaceServer("a", offered("a", "x_y", "x y"));
  expect(conversation.getTool("x_y")?.serverToolName).toBe("x y");
  expect(registry.getTool("x_y")?.serverToolName).toBe("x_y");
});

test("what cannot be offered is not, under any name", () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", [sampleTool("a", "x", { compile: () => ({ kind: "quarantined", reason: "no" }) })]);
  const conversation = new ConversationTools(registry);
  registry.replaceServer("b", offered("b", "x"));
  expect(conversation.getTool("x")).toBeUndefined();
  expect(conversation.getFunctionDeclarations().map(({ name }) => name)).toEqual(["b__x"]);
});

test("a tool under another name is the same object until it changes", () => {
  const registry = new RegisteredTools({ serverOrder: ["a", "b"] });
  registry.replaceServer("b", offered("b", "x"));
  const conversation = new ConversationTools(registry);
  registry.replaceServer("a", offered("a", "x"));
  const held = conversation.getTool("a__x");
  expect(held?.name).toBe("a__x");
  registry.replaceServer("c", offered("c", "y"));
  expect(conversation.getTool("a__x")).toBe(held);
  registry.replaceServer("a", offered("a", "x"));
  expect(conversation.getTool("a__x")).not.toBe(held);
});

test("the names of a conversation are listed in the order in which it used them", () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", offered("a", "x", "y"));
  const conversation = new ConversationTools(registry);
  const first = [
    { server: "a", name: "x", as: "x" },
    { server: "a", name: "y", as: "y" },
  ];
  expect(conversation.names()).toEqual(first);
  registry.replaceServer("b", offered("b", "z"));
  expect(conversation.getEveryTool().map(({ name }) => name)).toEqual(["x", "y", "b__z"]);
  expect(conversation.names()).toEqual([...first, { server: "b", name: "z", as: "b__z" }]);
});

test("a resumed conversation lists its earlier names and names the new tools", () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", offered("a", "x", "y"));
  const earlier = [{ server: "a", name: "x", as: "old" }];
  const resumed = new ConversationTools(registry, earlier);
  expect(resumed.names()).toEqual([...earlier, { server: "a", name: "y", as: "a__y" }]);
  expect(namesOf(resumed.getAllTools())).toEqual({ "a/x": "old", "a/y": "a__y" });
});

test("a conversation that is ready has the tools that the registry has then", async () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", offered("a", "x"));
  const conversation = new ConversationTools(registry);
  registry.replaceServer("a", offered("a", "x", "y"));
  const tools = await conversation.ready();
  expect(tools.map(({ name }) => name)).toEqual(["x", "a__y"]);
  expect(conversation.getEveryTool()).toBe(tools);
  registry.replaceServer("b", offered("b", "x"));
  expect((await conversation.ready()).map(({ name }) => name)).toEqual(["x", "a__y", "b__x"]);
});

describe("very many tools are named in slices", () => {
  const many = (server: string, count: number) =>
    offered(server, ...Array.from({ length: count }, (_, at) => `t${at}`));

  test("between them other work has its turn, and the names are the same as without slices", async () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", many("a", 3000));
    const [sliced, whole] = [new ConversationTools(registry), new ConversationTools(registry)];
    expect(await turnsUntil(sliced.ready())).toBeGreaterThan(5);
    registry.replaceServer("b", many("b", 3000));
    registry.removeServer("a");
    registry.replaceServer("a", many("a", 3001));
    await registry.ready();
    expect(await turnsUntil(sliced.ready())).toBeGreaterThan(11);
    expect(await turnsUntil(sliced.ready())).toBe(1);
    expect(namesOf(sliced.getEveryTool())).toEqual(namesOf(whole.getEveryTool()));
    expect(sliced.getTool("t7")?.serverName).toBe("a");
    expect(sliced.getTool("a__t3000")?.serverName).toBe("a");
    expect(sliced.names()).toEqual(whole.names());
  });

  test("a use meanwhile, or a change, gives the tools of the moment", async () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", many("a", 3000));
    const conversation = new ConversationTools(registry);
    await conversation.ready();
    registry.replaceServer("b", many("b", 3000));
    await registry.ready();
    const first = conversation.ready();
    const used = conversation.getEveryTool();
    expect(await first).toBe(used);
    registry.replaceServer("c", offered("c", "x"));
    await registry.ready();
    const second = conversation.ready();
    registry.replaceServer("d", offered("d", "x"));
    await second;
    expect(Object.values(namesOf(conversation.getEveryTool()))).toEqual(expect.arrayContaining(["c__x", "d__x"]));
    expect(conversation.getTool("b__t5")).toBe(used.find(({ name }) => name === "b__t5"));
  });

  test("a resumed conversation has the names of its earlier run", async () => {
    const registry = new RegisteredTools();
    registry.replaceServer("a", many("a", 1500));
    const earlier = new ConversationTools(registry).names();
    registry.replaceServer("a", many("a", 1501));
    const resumed = new ConversationTools(registry, [...earlier]);
    expect(await turnsUntil(resumed.ready())).toBeGreaterThan(2);
    expect(resumed.getTool("t1499")).toBeDefined();
    expect(resumed.getTool("a__t1500")).toBeDefined();
    expect(resumed.names()).toHaveLength(1501);
  });
});
