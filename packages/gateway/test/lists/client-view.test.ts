import type { Catalog } from "@fairlead/core/discover/catalog";
import type { ClientProfile } from "@fairlead/core/settings/define/definition";
import { expect, test } from "vitest";
import type { GatewayClient } from "../../src/gateway-client.ts";
import { reachOf } from "../../src/lists/client-reach.ts";
import { type ListingHost, serverOfUri, viewFor } from "../../src/lists/client-view.ts";

type ReachHost = Parameters<typeof reachOf>[1];

function reach(
  client: Partial<GatewayClient>,
  servers: Readonly<Record<string, string>>,
  profile?: Partial<ClientProfile>,
) {
  const host = {
    states: () => Object.entries(servers).map(([name, status]) => ({ name, status })),
    clientProfile: (name: string) => (name === "ann" ? profile : undefined),
  } as unknown as ReachHost;
  return reachOf({ name: "ann", conversation: "1", ...client }, host);
}

const two = { b: "connected", a: "disconnected" };

test.each<[string, Partial<GatewayClient>, Record<string, string>, Partial<ClientProfile> | undefined, string[]]>([
  ["nothing is limited", {}, two, undefined, ["b", "a"]],
  ["its options name servers", { servers: ["a", "x"] }, two, undefined, ["a"]],
  ["its profile names servers", {}, two, { servers: ["b"] }, ["b"]],
  ["both name servers", { servers: ["a"] }, two, { servers: ["b"] }, []],
  ["its URL names a server", { only: "a" }, two, undefined, ["a"]],
  ["its profile leaves out the server of its URL", { only: "a" }, two, { servers: ["b"] }, []],
  ["servers are disabled or blocked", {}, { a: "disabled", b: "blocked", c: "failed" }, undefined, ["c"]],
  ["its URL names a disabled server", { only: "a" }, { a: "disabled", b: "connected" }, undefined, ["a"]],
  ["there is only the demo", {}, { demo: "connected" }, undefined, ["demo"]],
  ["there is more than the demo", {}, { demo: "connected", a: "connected" }, undefined, ["a"]],
  ["its URL names the demo", { only: "demo" }, { demo: "connected", a: "connected" }, undefined, ["demo"]],
  ["its profile names the demo", {}, { demo: "connected", a: "connected" }, { servers: ["demo"] }, ["demo"]],
  ["its options name the demo", { servers: ["demo", "a"] }, { demo: "x", a: "x" }, undefined, ["demo", "a"]],
])("which servers a client may use if %s", (_, client, servers, profile, expected) => {
  expect(reach(client, servers, profile).servers).toEqual(expected);
});

test.each([
  ["a.read", ["a.read"]],
  ["a.*", ["a.read", "a.read_all", "a.write"]],
  ["*", ["a.read", "a.read_all", "a.write", "b.read"]],
  ["*.read", ["a.read", "b.read"]],
  ["a.r*d", ["a.read"]],
  ["a*ad*all", ["a.read_all"]],
  ["a.read*read", []],
  ["a*read*read", []],
  ["*a*a*", ["a.read", "a.read_all"]],
  ["a.rea", []],
  ["read", []],
])("the pattern %s allows the tools %j", (pattern, allowed) => {
  const names = ["a.read", "a.read_all", "a.write", "b.read"];
  const { hasTool } = reach({ tools: [pattern] }, { a: "connected", b: "connected" });
  expect(names.filter((name) => hasTool(name.slice(0, 1), name.slice(2)))).toEqual(allowed);
});

test("a tool must be in the options and in the profile, and on a server that the client may use", () => {
  const { hasTool } = reach({ tools: ["a.x", "a.y"], servers: ["a"] }, two, { tools: ["*.y", "*.z"] });
  expect([hasTool("a", "x"), hasTool("a", "y"), hasTool("a", "z"), hasTool("b", "y")]).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

const tool = (name: string, more: object = {}) => ({ name, inputSchema: {}, ...more });
const catalogs: Readonly<Record<string, object>> = {
  a: {
    tools: [tool("read", { execution: { taskSupport: "optional" } }), tool("write"), tool("hidden")],
    prompts: [{ name: "review", arguments: [] }],
    resources: [{ uri: "file:///x", name: "x of a" }],
    resourceTemplates: [],
  },
  b: {
    tools: [tool("read", { execution: { taskSupport: "optional", other: 1 } })],
    prompts: [{ name: "review", title: "b", arguments: [] }],
    resources: [{ uri: "file:///x", name: "x of b" }, { uri: "file:///y" }],
    resourceTemplates: [{ uriTemplate: "note:///{id}" }],
  },
};
const host = {
  catalog: (server: string) => catalogs[server] as Catalog | undefined,
  tools: () => [
    { name: "read", server: "a", serverToolName: "read" },
    { name: "hidden", server: "a", serverToolName: "hidden" },
    { name: "gone", server: "a", serverToolName: "gone" },
    { name: "b__read", server: "b", serverToolName: "read" },
    { name: "c", server: "c", serverToolName: "read" },
    { name: "read", server: "b", serverToolName: "read" },
  ],
  prompts: () => [
    { name: "review", server: "a", serverPromptName: "review" },
    { name: "gone", server: "a", serverPromptName: "gone" },
    { name: "b__review", server: "b", serverPromptName: "review" },
  ],
} as unknown as ListingHost;
const hasTool = (_server: string, name: string): boolean => name !== "hidden";

test("a client of all servers sees the host's names, and of two resources with one URI the first", () => {
  const view = viewFor({ only: undefined, servers: ["a", "b", "none"], hasTool }, host);
  const item = (server: string, name: string, definition: object) => ({ server, name, definition });
  expect(view.servers).toEqual(["a", "b", "none"]);
  expect([...view.tools]).toEqual([
    ["read", item("a", "read", tool("read"))],
    ["b__read", item("b", "read", tool("b__read", { execution: { other: 1 } }))],
  ]);
  expect([...view.prompts]).toEqual([
    ["review", item("a", "review", { name: "review", arguments: [] })],
    ["b__review", item("b", "review", { name: "b__review", title: "b", arguments: [] })],
  ]);
  expect([...view.resources]).toEqual([
    ["file:///x", { server: "a", definition: { uri: "file:///x", name: "x of a" } }],
    ["file:///y", { server: "b", definition: { uri: "file:///y" } }],
  ]);
  expect([...view.templates]).toEqual([["note:///{id}", { server: "b", definition: { uriTemplate: "note:///{id}" } }]]);
});

test("a client of one server sees the server's own names", () => {
  const view = viewFor({ only: "b", servers: ["b"], hasTool }, host);
  expect([...view.tools]).toEqual([
    ["read", { server: "b", name: "read", definition: tool("read", { execution: { other: 1 } }) }],
  ]);
  expect([...view.prompts]).toEqual([
    ["review", { server: "b", name: "review", definition: { name: "review", title: "b", arguments: [] } }],
  ]);
  const ofA = viewFor({ only: "a", servers: ["a"], hasTool }, host);
  expect([...ofA.tools.keys()]).toEqual(["read", "write"]);
});

test("a URI belongs to the server that lists it, then to a matching template, then to the only candidate", () => {
  const view = viewFor({ only: undefined, servers: ["a", "b"], hasTool }, host);
  const find = (uri: string, servers = view.servers) => serverOfUri(uri, { ...view, servers });
  expect(find("file:///x")).toBe("a");
  expect(find("file:///y")).toBe("b");
  expect(find("note:///7")).toBe("b");
  expect(find("other:///7")).toBeUndefined();
  expect(find("other:///7", ["c"])).toBe("c");
  const resources = new Map([...view.resources].slice(1));
  expect(serverOfUri("other:///7", { ...view, resources })).toBe("b");
  const none = { resources: new Map(), templates: new Map() };
  expect(serverOfUri("other:///7", { ...view, ...none })).toBeUndefined();
});
