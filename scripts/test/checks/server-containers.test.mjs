import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { checkServerContainers, exceptions } from "../../checks/server-containers.mjs";
import { planted } from "./planted.mjs";

async function violationsOf(content, file = "core/src/host/state.ts") {
  const { violations } = await planted({ [file]: content }, checkServerContainers);
  return violations;
}

const violation =
  "packages/core/src/host/state.ts: states is keyed by a server's name; keep this state on Server or Connection";

test.each([
  [
    "a class",
    "class A { readonly #states = new Map<string, number>(); of(server: string) { return this.#states.get(server); } }",
  ],
  [
    "a class, with a Set",
    "class A { states = new Set<string>(); add(tool: Tool) { this.states.add(tool.serverName); } }",
  ],
  [
    "a class, with a record",
    "class A { states: Record<string, number> = {}; of(server: Server) { return this.states[server.name]; } }",
  ],
  [
    "a class, of servers",
    "class A { #states: ReadonlyMap<string, Server> = new Map(); of(name: string) { return this.#states.get(name); } }",
  ],
  ["a module", "const states = new Map<string, number>();\nexport const of = (server: string) => states.get(server);"],
  [
    "an interface",
    "interface A { states: Map<string, number> }\nconst add = ({ states }: A, serverName: string) => states.set(serverName, 1);",
  ],
  [
    "a factory",
    "function create() { const states = new Map(); return { of: (server: string) => states.get(server) }; }",
  ],
  [
    "a factory with inner functions",
    "function create() { const states = new Set(); function add(server: string) { states?.add(server); } return add; }",
  ],
  [
    "a factory whose inner functions come first",
    "function create() { function add(server: string) { states.add(server); } const states = new Set(); return add; }",
  ],
  [
    "an async factory",
    "async function open() { const states = new Set(); return { add(server: string) { states.add(server); } }; }",
  ],
])("a container by server name is found in %s", async (_, content) => {
  expect(await violationsOf(content)).toEqual([violation]);
});

test.each([
  [
    "a variable of one call",
    "function count(tools: Tool[]) { const states = new Map(); for (const { server } of tools) states.set(server, 1); return states.size; }",
  ],
  [
    "a variable of one call, used in `map`",
    "function all(tools: Tool[]) { const states = new Set(); return tools.map((tool) => states.has(tool.server)); }",
  ],
  [
    "a variable of one async call",
    "async function all() { const states = new Set(); const add = (server: string) => states.add(server); add('a'); }",
  ],
  [
    "a key that is no server's name",
    "class A { #states = new Map<string, number>(); of(uri: string) { return this.#states.get(uri); } }",
  ],
  [
    "servers as keys",
    "class A { #states = new WeakMap<Server, number>(); of(server: Server) { return this.#states.get(server); } }",
  ],
  [
    "a Map with servers as keys",
    "class A { #states = new Map<Server, number>(); of(server: Server) { return this.#states.get(server); } }",
  ],
])("%s is fine", async (_, content) => {
  expect(await violationsOf(content)).toEqual([]);
});

test("the map of all servers and other packages are not checked", async () => {
  const content =
    "class A { readonly #states = new Map<string, Server>(); of(name: string) { return this.#states.get(name); } }";
  expect(await violationsOf(content, "core/src/server/servers.ts")).toEqual([]);
  expect(await violationsOf(content, "wire/src/states.ts")).toEqual([]);
  expect(await violationsOf(content, "gateway/src/states.ts")).toHaveLength(1);
});

test("an exception counts only for its file and its name", async () => {
  const content = (name) =>
    `class A { readonly #${name} = new Set<string>(); has(server: string) { return this.#${name}.has(server); } }`;
  expect(await violationsOf(content("whole"), "core/src/policy/conversation-approvals.ts")).toEqual([]);
  expect(await violationsOf(content("other"), "core/src/policy/conversation-approvals.ts")).toHaveLength(1);
  expect(await violationsOf(content("whole"), "core/src/policy/approvals.ts")).toHaveLength(1);
});

test("the files of all exceptions exist", () => {
  expect(Object.keys(exceptions).filter((file) => !existsSync(`packages/${file}`))).toEqual([]);
});
