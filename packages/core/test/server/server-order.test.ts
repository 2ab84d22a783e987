import { expect, test } from "vitest";
import { DiscoveredMCPPrompt } from "../../src/server/discovered-prompt.ts";
import { PromptRegistry, RegisteredTools, ResourceRegistry } from "../../src/server/registries.ts";
import { namesOf, sampleTool } from "../support/sample-tools.ts";

const prompt = (serverName: string) =>
  new DiscoveredMCPPrompt({ serverName, serverPromptName: "x", get: async () => ({ messages: [], notes: [] }) });

test("a new order of servers gives the bare name of a tool to another server at once", () => {
  const registry = new RegisteredTools({ serverOrder: ["a", "b"] });
  for (const server of ["a", "b", "c"]) registry.registerTool(sampleTool(server, "x"));
  expect(namesOf(registry.getAllTools())).toEqual({ "a/x": "x", "b/x": "b__x", "c/x": "c__x" });
  registry.setServerOrder(["c", "b"]);
  expect(Object.entries(namesOf(registry.getAllTools()))).toEqual([
    ["c/x", "x"],
    ["b/x", "b__x"],
    ["a/x", "a__x"],
  ]);
  registry.setServerOrder(["c", "b"], ["c"]);
  expect(namesOf(registry.getAllTools())).toEqual({ "c/x": "c__x", "b/x": "x", "a/x": "a__x" });
});

test("a tool that is registered after the tools were read is listed", () => {
  const registry = new RegisteredTools();
  expect(registry.getAllTools()).toEqual([]);
  registry.registerTool(sampleTool("a", "x"));
  expect(namesOf(registry.getAllTools())).toEqual({ "a/x": "x" });
  registry.registerTool(sampleTool("a", "y"));
  expect(namesOf(registry.getAllTools())).toEqual({ "a/x": "x", "a/y": "y" });
  expect(registry.find("b", "x")).toBeUndefined();
});

test("a tool that is registered while the tools are named is listed", async () => {
  const registry = new RegisteredTools();
  registry.replaceServer(
    "a",
    Array.from({ length: 600 }, (_, at) => sampleTool("a", `t${at}`)),
  );
  const ready = registry.ready();
  registry.registerTool(sampleTool("b", "x"));
  await ready;
  expect(registry.getAllTools()).toHaveLength(601);
  const before = registry.getEveryTool();
  await registry.ready();
  expect(registry.getEveryTool()).toBe(before);
});

test("a new order of servers gives the bare name of a prompt to another server at once", () => {
  const registry = new PromptRegistry({ serverOrder: ["a", "b"] });
  for (const server of ["a", "b"]) registry.registerPrompt(prompt(server));
  const names = () => registry.getAllPrompts().map(({ serverName, name }) => [serverName, name]);
  expect(names()).toEqual([
    ["a", "x"],
    ["b", "b__x"],
  ]);
  registry.setServerOrder(["b", "a"]);
  expect(names()).toEqual([
    ["b", "x"],
    ["a", "a__x"],
  ]);
  registry.setServerOrder(["b", "a"], ["b"]);
  expect(names()).toEqual([
    ["b", "b__x"],
    ["a", "x"],
  ]);
});

test("a prompt keeps the name that the program gave it", () => {
  const named = new DiscoveredMCPPrompt({
    serverName: "a",
    serverPromptName: "x",
    nameOverride: "mine",
    get: async () => ({ messages: [], notes: [] }),
  });
  const registry = new PromptRegistry();
  registry.registerPrompt(named);
  expect([named.nameOverride, registry.getPrompt("mine")?.nameOverride]).toEqual(["mine", "mine"]);
});

test("resources are listed in a new order of servers", () => {
  const registry = new ResourceRegistry({ serverOrder: ["a", "b"] });
  for (const server of ["a", "b"]) registry.replaceServer(server, { resources: [{ uri: "x://1", name: "x" }] });
  const servers = () => registry.getAllResources().map(({ serverName }) => serverName);
  expect(servers()).toEqual(["a", "b"]);
  registry.setServerOrder(["b", "a"]);
  expect(servers()).toEqual(["b", "a"]);
  expect(registry.getTemplatesByServer("c")).toEqual([]);
});

test("a tool in another dialect is the same object each time, and keeps its name", () => {
  const registry = new RegisteredTools();
  registry.replaceServer("a", [sampleTool("a", "x")]);
  registry.replaceServer("b", [sampleTool("b", "x")]);
  const tool = registry.getTool("b__x");
  if (tool === undefined) expect.fail("the tool is missing");
  expect(tool.inDialect("gemini")).toBe(tool);
  const openai = tool.inDialect("openai");
  expect(openai).not.toBe(tool);
  expect(tool.inDialect("openai")).toBe(openai);
  expect(openai.inDialect("openai")).toBe(openai);
  expect([openai.name, openai.serverName, openai.serverToolName, openai.nameOverride]).toEqual([
    "b__x",
    "b",
    "x",
    undefined,
  ]);
  const modern = tool.inDialect("json-schema-2020-12");
  expect(tool.inDialect("json-schema-2020-12")).toBe(modern);
  expect(tool.inDialect("openai")).not.toBe(modern);
});
