import { expect, test } from "vitest";
import { folderTrustEnabled } from "../../../src/settings/read/load.ts";
import { textSource } from "../../../src/settings/read/source.ts";
import { createWorld } from "../../support/load-settings.ts";

/** Each pair of values in both orders: the order decides nothing. */
async function load(first: string, second: string) {
  await using world = await createWorld();
  const loaded = [];
  for (const [one, other] of [
    [first, second],
    [second, first],
  ]) {
    await world.writeUser(`{ ${one}, ${other} }`);
    loaded.push(await world.load());
  }
  return loaded;
}

test.each([
  ["in one object", '"mcp": { "excluded": ["a"], "excluded": ["b"] }', '"ui": {}'],
  ["in two objects", '"mcp": { "excluded": ["a"] }', '"mcp": { "excluded": ["b"] }'],
  ["in one of two objects", '"mcp": { "excluded": ["a", "b"] }', '"mcp": { "allowed": ["c"] }'],
  ["beside an empty list", '"mcp": { "excluded": ["a", "b"] }', '"mcp": { "excluded": [] }'],
  ["as a text", '"mcp": { "excluded": "a" }', '"mcp": { "excluded": ["b"] }'],
])("what mcp.excluded names stays excluded: %s", async (_, first, second) => {
  for (const { excluded, gates, gateProblems } of await load(first, second)) {
    expect([...excluded.names].sort()).toEqual(["a", "b"]);
    expect(gates.map(({ server = "" }) => server).sort()).toEqual(["a", "b"]);
    expect(gateProblems[0]?.message ?? "").toMatch(
      /^"(?:mcp|excluded)" is written more than once; the strictest value/,
    );
  }
});

test.each([
  ["lists", '"mcp": { "allowed": ["a", "b"] }', '"mcp": { "allowed": ["b", "c"] }', ["b"]],
  ["a list and an empty one", '"mcp": { "allowed": ["a"] }', '"mcp": { "allowed": [] }', []],
  ["a list and a mistake", '"mcp": { "allowed": ["a"] }', '"mcp": { "allowed": true }', []],
])("mcp.allowed allows what all of them allow: %s", async (_, first, second, names) => {
  for (const { allowed } of await load(first, second)) expect([...(allowed?.names ?? ["none"])]).toEqual(names);
});

test("permissions, switches and limits: the stricter value counts", async () => {
  const strict = `"fairlead": {
    "permissions": { "denyTools": ["pay"], "servers": { "s": ["read"] } },
    "servers": { "off": { "enabled": false }, "s": { "sampling": false } },
    "resourceFunctions": false, "limits": { "callsTotal": 3 }, "googleHosts": ["a.example"] }`;
  const lax = `"fairlead": {
    "permissions": { "denyTools": [], "servers": { "s": ["read", "write"] } },
    "servers": { "off": { "enabled": true }, "s": { "sampling": true } },
    "resourceFunctions": true, "limits": { "callsTotal": 30 }, "googleHosts": ["a.example", "b.example"] },
    "mcpServers": { "s": { "command": "x" } }`;
  for (const { host, switchedOff, servers, gates } of await load(strict, lax)) {
    expect(host.permissions).toEqual({ denyTools: ["pay"], servers: new Map([["s", ["read"]]]) });
    expect([...switchedOff.keys()]).toEqual(["off"]);
    expect(servers.map(({ definition }) => definition?.extras.sampling)).toEqual([false]);
    expect([host.resourceFunctions, host.limits.callsTotal, host.googleHosts]).toEqual([false, 3, ["a.example"]]);
    expect(gates.map(({ tools }) => tools)).toEqual([{ only: "pay" }, { allBut: ["read"] }]);
  }
});

test("the results of a server stay hidden if one hideResults is true and another is false", async () => {
  const servers = (value: string): string => `"fairlead": { "servers": { "a.b": { "hideResults": ${value} } } }`;
  const entry = '"mcpServers": { "a.b": { "command": "x" } }';
  for (const { servers: loaded } of await load(servers("true"), `${servers("false")}, ${entry}`))
    expect(loaded.map(({ definition }) => definition?.extras.hideResults)).toEqual([true]);
});

test("a server stays disabled if one enabled is false and another is no boolean", async () => {
  const servers = (value: string): string => `"fairlead": { "servers": { "a": { "enabled": ${value} } } }`;
  for (const { switchedOff } of await load(servers("false"), servers('"yes"')))
    expect([...switchedOff.keys()]).toEqual(["a"]);
});

test.each([
  ["100", "5000", { tokens: 100 }],
  ["100", '{ "tokens": 5000, "tools": 7 }', { tokens: 100, tools: 7 }],
  ["5000", '{ "tokens": 100 }', { tokens: 100 }],
  ["100", '{ "tools": 7 }', { tokens: 100, tools: 7 }],
])("the lowest tool budget counts: %s and %s", async (first, second, toolBudget) => {
  const budget = (value: string): string =>
    `"fairlead": { "toolBudget": ${value}, "clients": { "c": { "toolBudget": ${value} } } }`;
  for (const { host } of await load(budget(first), budget(second))) {
    expect(host.toolBudget).toEqual(toolBudget);
    expect(host.clients.get("c")).toEqual({ toolBudget });
  }
});

const client = '{ "clientId": "me", "clientSecret": "${secret:S}" }';

test.each(["true", client])("machineAuth stays off if one machineAuth is false and another is %s", async (lax) => {
  const servers = (value: string): string => `"fairlead": { "servers": { "a": { "machineAuth": ${value} } } }`;
  const entry = `"mcpServers": { "a": { "httpUrl": "https://a.example/mcp", "oauth": ${client} } }`;
  const isOn = async (first: string, second: string): Promise<readonly boolean[]> => {
    const loaded = await load(servers(first), `${servers(second)}, ${entry}`);
    return loaded.flatMap(({ servers: [server] }) => server?.definition?.extras.machineAuth !== undefined);
  };
  expect(await isOn(lax, lax)).toEqual([true, true]);
  expect(await isOn("false", lax)).toEqual([false, false]);
});

test.each([
  ['"security": { "folderTrust": { "enabled": false } }', '"security": { "folderTrust": { "enabled": true } }'],
  ['"security": { "folderTrust": { "enabled": true, "enabled": false } }', '"ui": {}'],
])("folder trust is off only if nothing switches it on", (first, second) => {
  for (const text of [`{ ${first}, ${second} }`, `{ ${second}, ${first} }`])
    expect(folderTrustEnabled([textSource(text)])).toBe(true);
});

test("texts and other programs' keys: the last one counts", async () => {
  await using world = await createWorld();
  await world.writeUser('{ "fairlead": { "start": "lazy", "start": "background" }, "fairlead": { "start": "lazy" } }');
  const { host, problems } = await world.load();
  expect(host.start).toBe("lazy");
  expect(problems.map(({ message }) => message)).toEqual([
    '"fairlead" is written more than once; the strictest value counts',
  ]);
});
