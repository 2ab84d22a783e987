import { expect, test } from "vitest";
import { ResourceRegistry } from "../../src/server/registries.ts";

const resource = (uri: string, name = uri) => ({ uri, name });
const template = (uriTemplate: string) => ({ uriTemplate, name: uriTemplate });

function filled(): ResourceRegistry {
  const registry = new ResourceRegistry({ serverOrder: ["a", "b"] });
  registry.replaceServer("b", { resources: [resource("x://1"), resource("x://2")] });
  registry.replaceServer("a", {
    resources: [resource("x://1", "first"), resource("x://1", "second"), { ...resource("x://3"), serverName: "b" }],
    resourceTemplates: [template("x://{id}")],
  });
  return registry;
}

test("resources are listed in the order of the servers; of one server, the first of a URI", () => {
  const registry = filled();
  expect(registry.getAllResources()).toEqual([
    { uri: "x://1", name: "first", serverName: "a" },
    { uri: "x://3", name: "x://3", serverName: "a" },
    { uri: "x://1", name: "x://1", serverName: "b" },
    { uri: "x://2", name: "x://2", serverName: "b" },
  ]);
  expect(registry.getResourcesByServer("b").map(({ uri }) => uri)).toEqual(["x://1", "x://2"]);
  expect(registry.getResourcesByServer("c")).toEqual([]);
});

test("a URI is found on every server that has it", () => {
  const registry = filled();
  expect(registry.findByUri("x://1").map(({ serverName }) => serverName)).toEqual(["a", "b"]);
  expect(registry.findByUri("x://2").map(({ serverName }) => serverName)).toEqual(["b"]);
  expect(registry.findByUri("x://{id}")).toEqual([]);
});

test("templates are listed apart", () => {
  const registry = filled();
  const expected = [{ uriTemplate: "x://{id}", name: "x://{id}", serverName: "a" }];
  expect(registry.getAllTemplates()).toEqual(expected);
  expect([registry.getTemplatesByServer("a"), registry.getTemplatesByServer("b")]).toEqual([expected, []]);
});

test("a server's are replaced and removed as a whole", () => {
  const registry = filled();
  registry.replaceServer("a", { resources: [resource("x://4")] });
  expect(registry.getResourcesByServer("a").map(({ uri }) => uri)).toEqual(["x://4"]);
  expect(registry.getAllTemplates()).toEqual([]);
  registry.removeServer("b");
  expect(registry.getAllResources().map(({ uri }) => uri)).toEqual(["x://4"]);
  expect(registry.findByUri("x://1")).toEqual([]);
});
