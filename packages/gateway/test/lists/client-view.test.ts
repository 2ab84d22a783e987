import type { Catalog } from "@fairlead/core/server/catalog";
import { ClientPins, type SeenList } from "@fairlead/core/server/names";
import type { ClientProfile } from "@fairlead/core/settings/define/definition";
import { expect, test } from "vitest";
import type { GatewayClient } from "../../src/gateway-client.ts";
import { reachOf } from "../../src/lists/client-reach.ts";
import { catalogsFor, serverOfNewUri, viewFor } from "../../src/lists/client-view.ts";

type ReachHost = Parameters<typeof reachOf>[1];

function reach(
  client: Partial<GatewayClient>,
  servers: Readonly<Record<string, string>>,
  profile?: Partial<ClientProfile>,
) {
  const host = {
    states: () => Object.entries(servers).map(([name, status]) => ({ name, status })),
    gateway: { clientProfile: (name: string) => (name === "ann" ? profile : undefined) },
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
  tools: (server: string) =>
    ({ a: ["read", "hidden", "gone"], b: ["read"] })[server]?.map((serverToolName) => ({ serverToolName })) ?? [],
  prompts: (server: string) =>
    ({ a: ["review", "gone"], b: ["review"] })[server]?.map((serverPromptName) => ({ serverPromptName })) ?? [],
  gateway: { servers: { find: () => undefined } },
} as unknown as Parameters<typeof catalogsFor>[1];
const hasTool = (_server: string, name: string): boolean => name !== "hidden";

function viewOf(servers: readonly string[], only?: string, names = new ClientPins()) {
  const reach = { only, servers, hasTool };
  return viewFor(reach, catalogsFor(reach, host), { names, hasBudget: false, loadsSkills: false, signsIn: false });
}

const item = (server: string, name: string, definition: object) => ({ server, name, definition });

test("of two tools or prompts with one name, the first server's keeps it; of two resources with one URI the first is listed", () => {
  const view = viewOf(["a", "b", "none"]);
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
    ["file:///x", item("a", "file:///x", { uri: "file:///x", name: "x of a" })],
    ["file:///y", item("b", "file:///y", { uri: "file:///y" })],
  ]);
  expect([...view.templates]).toEqual([["note:///{id}", item("b", "note:///{id}", { uriTemplate: "note:///{id}" })]]);
});

test("a server that the client may not use changes no name", () => {
  const view = viewOf(["b"]);
  expect([...view.tools.keys()]).toEqual(["read"]);
  expect([...view.prompts.keys()]).toEqual(["review"]);
  expect(view.resources.get("file:///x")?.server).toBe("b");
});

test("a client of one server sees the server's own names", () => {
  const view = viewOf(["b"], "b");
  expect([...view.tools]).toEqual([["read", item("b", "read", tool("read", { execution: { other: 1 } }))]]);
  expect([...view.prompts]).toEqual([["review", item("b", "review", { name: "review", title: "b", arguments: [] })]]);
  expect([...viewOf(["a"], "a").tools.keys()]).toEqual(["read", "write"]);
});

test("names and addresses that the client has seen keep their server, and what is gone leaves its name unused", () => {
  const names = new ClientPins();
  names.see("tools", [
    { server: "b", name: "read", as: "read" },
    { server: "c", name: "hidden", as: "b__read" },
  ]);
  names.see("prompts", [{ server: "b", name: "review", as: "review" }]);
  names.see("resources", [{ server: "b", name: "file:///x", as: "file:///x" }]);
  names.see("templates", [{ server: "a", name: "note:///{id}", as: "note:///{id}" }]);
  const view = viewOf(["a", "b"], undefined, names);
  const servers = (list: "tools" | "prompts" | "resources" | "templates") =>
    [...view[list]].map(([as, { server }]) => `${as} of ${server}`);
  expect(servers("tools")).toEqual(["a__read of a", "read of b"]);
  expect(servers("prompts")).toEqual(["a__review of a", "review of b"]);
  expect(servers("resources")).toEqual(["file:///x of b", "file:///y of b"]);
  expect(servers("templates")).toEqual([]);
});

test("with a tool budget, the gateway's own tools have their names before every server", () => {
  const reach = { only: undefined, servers: ["a"], hasTool };
  const ownNamed = [{ server: "a", catalog: { tools: [tool("search_tools"), tool("x")] } }] as unknown as Parameters<
    typeof viewFor
  >[1];
  const [catalog] = ownNamed.map((each) => ({
    ...each,
    catalog: { ...each.catalog, prompts: [], resources: [], resourceTemplates: [] },
  }));
  const view = (names: ClientPins, only?: string) =>
    viewFor({ ...reach, only }, catalog ? [catalog] : [], {
      names,
      hasBudget: true,
      loadsSkills: false,
      signsIn: false,
    });
  expect(view(new ClientPins()).own).toEqual({ search: "search_tools", call: "call_tool" });
  expect([...view(new ClientPins()).tools.keys()]).toEqual(["a__search_tools", "x"]);
  const names = new ClientPins();
  names.see("tools", [{ server: "a", name: "search_tools", as: "search_tools" }]);
  expect(view(names).own).toEqual({ search: "__search_tools", call: "call_tool" });
  expect([...view(names).tools.keys()]).toEqual(["search_tools", "x"]);
  expect(view(new ClientPins(), "a").own).toEqual({ search: "__search_tools", call: "call_tool" });
});

test("at the address of one server, the server's tools keep all their names, and the gateway's own tools take others", () => {
  const only = { only: "a", servers: ["a"], hasTool: () => true };
  const tools = ["search_tools", "__search_tools", "x"].map((name) => tool(name));
  const own = { catalog: () => ({ tools, prompts: [], resources: [], resourceTemplates: [] }) };
  const view = viewFor(only, catalogsFor(only, { ...host, ...own } as unknown as typeof host), {
    names: new ClientPins(),
    hasBudget: true,
    loadsSkills: false,
    signsIn: false,
  });
  expect([...view.tools.keys()]).toEqual(["search_tools", "__search_tools", "x"]);
  expect(view.own?.call).toBe("call_tool");
  expect(view.own?.search).toMatch(/^__sea_[0-9a-f]{8}$/);
});

test("a new URI belongs to the server that lists it, otherwise to the only candidate", () => {
  const names = new ClientPins();
  const view = viewOf(["a", "b"]);
  const find = (uri: string, servers = view.servers) => serverOfNewUri(uri, { ...view, servers }, names);
  expect(find("file:///x")).toBe("a");
  expect(find("file:///y")).toBe("b");
  expect(find("other:///7")).toBeUndefined();
  expect(find("other:///7", ["c"])).toBe("c");
  const resources = new Map([...view.resources].slice(1));
  expect(serverOfNewUri("other:///7", { ...view, resources }, names)).toBe("b");
  const none = { resources: new Map(), templates: new Map() };
  expect(serverOfNewUri("other:///7", { ...view, ...none }, names)).toBeUndefined();
});

test("a URI that the client has seen, or that a template which it has seen can produce, stays with its server", () => {
  const names = new ClientPins();
  names.see("resources", [{ server: "b", name: "file:///x", as: "file:///x" }]);
  names.see("templates", [{ server: "a", name: "note:///{id}", as: "note:///{id}" }]);
  expect(["file:///x", "note:///7", "file:///y"].map((uri) => names.serverOf(uri))).toEqual(["b", "a", undefined]);
  const view = viewOf(["a", "b"]);
  const onlyA = { resources: new Map([...view.resources].slice(0, 1)), templates: new Map() };
  expect(serverOfNewUri("other:///7", { ...view, ...onlyA }, new ClientPins())).toBe("a");
  expect(serverOfNewUri("other:///7", { ...view, ...onlyA }, names)).toBeUndefined();
});

const template = (server: string, as: string) => ({ server, name: as, as });

test("a new address that a template of another server can produce is not listed", () => {
  const names = new ClientPins();
  names.see("templates", [template("a", "note:///{id}"), template("a", "note:///}")]);
  const mayList = names.createListing();
  expect(mayList("b", "note:///7")).toBe(false);
  expect(mayList("a", "note:///7")).toBe(true);
  expect(mayList("b", "note:///7/8")).toBe(true);
  expect(mayList("b", "note:///}")).toBe(false);
  names.see("templates", [template("c", "later:///{id}")]);
  expect(mayList("b", "later:///7")).toBe(false);
});

test("the work of comparing new addresses with templates is bounded, for each server that lists them", () => {
  const names = new ClientPins();
  names.see("templates", [template("a", `x:///${"{+v}".repeat(100)}!`)]);
  const mayList = names.createListing();
  const long = `x:///${"y".repeat(60_000)}`;
  expect([mayList("b", long), mayList("b", long), mayList("b", "z:///1")]).toEqual([true, false, true]);
  expect(mayList("b", "x:///y")).toBe(false);
  expect(mayList("c", "x:///y")).toBe(true);
  expect(names.createListing()("b", "x:///y")).toBe(true);
});

test("templates that take very long to compare do not keep other servers' templates from their addresses", () => {
  const names = new ClientPins();
  const slow = Array.from({ length: 50 }, (_, at) => template("a", `x:///${"{+v}".repeat(100)}!${at}`));
  names.see("templates", [...slow, template("b", "x:///{+path}")]);
  expect(names.serverOf(`x:///${"y".repeat(60_000)}`)).toBe("b");
});

test("each template is read once, however often addresses are compared with it", () => {
  const names = new ClientPins();
  const long = Array.from({ length: 140 }, (_, at) => template("a", `x:///${at}${"あ".repeat(8000)}{v}`));
  expect(names.see("templates", long)).toHaveLength(140);
  // To read them takes a second.
  for (let round = 0; round < 1000; round += 1) {
    expect(names.createListing()("b", "y:///1")).toBe(true);
    expect(names.serverOf("y:///1")).toBeUndefined();
  }
});

test("one server has 4 MB for the names and addresses in its lists, at most 1000 templates, and 4 MB for links", () => {
  const names = new ClientPins();
  const address = (at: number) => ({ ...template("a", `x:///${at}/${"あ".repeat(300_000)}`) });
  const usable = (list: SeenList, many: number, from = 0) =>
    names.see(
      list,
      Array.from({ length: many }, (_, at) => address(from + at)),
    ).length;
  expect(usable("links", 10)).toBe(4);
  expect(usable("resources", 3)).toBe(3);
  expect([usable("tools", 10, 10), usable("prompts", 10, 20), usable("templates", 10, 30)]).toEqual([1, 0, 0]);
  const short = Array.from({ length: 2000 }, (_, at) => template("b", `y:///${at}/{v}`));
  expect(names.see("templates", short).length).toBeLessThan(1024);
});
