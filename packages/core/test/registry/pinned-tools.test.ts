import { expect, test } from "vitest";
import { ToolRegistry } from "../../src/registry/tool-registry.ts";
import { namesOf, sampleTool } from "../support/sample-tools.ts";

const offered = (server: string, ...tools: readonly string[]) => tools.map((tool) => sampleTool(server, tool));

test("a server that arrives later is qualified, even where a new conversation would give it the bare name", () => {
  const registry = new ToolRegistry({ serverOrder: ["a", "b"] });
  registry.replaceServer("b", offered("b", "x"));
  const conversation = registry.openConversation();
  registry.replaceServer("a", offered("a", "x", "y"));
  expect(namesOf(conversation.getAllTools())).toEqual({ "b/x": "x", "a/x": "a__x", "a/y": "a__y" });
  expect(namesOf(registry.openConversation().getAllTools())).toEqual({ "b/x": "b__x", "a/x": "x", "a/y": "y" });
});

test("a tool that is gone leaves its name unused, and finds it again", () => {
  const registry = new ToolRegistry();
  registry.replaceServer("a", offered("a", "x"));
  registry.replaceServer("b", offered("b", "x"));
  const conversation = registry.openConversation();
  registry.removeServer("a");
  expect(conversation.getTool("x")).toBeUndefined();
  expect(namesOf(conversation.getAllTools())).toEqual({ "b/x": "b__x" });
  registry.replaceServer("a", offered("a", "x"));
  expect(conversation.getTool("x")?.serverName).toBe("a");
});

test("a name is not passed on when a server lists its tools in another order", () => {
  const registry = new ToolRegistry();
  registry.replaceServer("a", offered("a", "x y", "x_y"));
  const conversation = registry.openConversation();
  registry.replaceServer("a", offered("a", "x_y", "x y"));
  expect(conversation.getTool("x_y")?.serverToolName).toBe("x y");
  expect(registry.getTool("x_y")?.serverToolName).toBe("x_y");
});

test("what cannot be offered is not, under any name", () => {
  const registry = new ToolRegistry();
  registry.replaceServer("a", [sampleTool("a", "x", { compile: () => ({ kind: "quarantined", reason: "no" }) })]);
  const conversation = registry.openConversation();
  registry.replaceServer("b", offered("b", "x"));
  expect(conversation.getTool("x")).toBeUndefined();
  expect(conversation.getFunctionDeclarations().map(({ name }) => name)).toEqual(["b__x"]);
});
