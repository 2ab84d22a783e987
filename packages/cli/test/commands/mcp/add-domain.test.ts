import { behaves, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { entries, machine, userFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const cardType = "application/mcp-server-card+json";

/** A domain with one card for each address. `claimed`: the protocol versions that each card names. */
async function domain(addresses: Readonly<Record<string, string>>, claimed: readonly string[] = ["1999-01-01"]) {
  const names = Object.keys(addresses);
  return webServer(({ path }, response) => {
    const name = path.slice(1);
    const isCatalog = path === "/.well-known/mcp/catalog.json";
    const body = isCatalog
      ? { entries: names.map((each) => ({ type: cardType, url: `/${each}` })) }
      : {
          name: `com.example/${name}`,
          version: "1.0.0",
          description: `The ${name}`,
          remotes: [{ type: "streamable-http", url: addresses[name], supportedProtocolVersions: claimed }],
        };
    if (!isCatalog && !names.includes(name)) response.writeHead(404).end();
    else response.end(JSON.stringify(body));
  });
}

test("the only server of a domain is added and tested; a wrong claim about its protocol does no harm", async () => {
  await using server = await webServer(behaves);
  const url = `${server.origin}/mcp`;
  await using site = await domain({ weather: url });
  await using here = await machine();
  const { code, stdout } = await here.run("mcp", "add", "--yes", "-s", "user", new URL(site.origin).host);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('"weather" is connected') });
  expect(stdout).toContain("checked by no registry");
  expect(await entries(here, userFile)).toEqual({ weather: { httpUrl: url } });
});

/** Whether the server speaks this protocol, and no other. It notes the methods that it is asked for. */
async function noting(isModern: boolean) {
  const methods: string[] = [];
  const result = (method: string) =>
    method === "server/discover"
      ? { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, serverInfo: about }
      : { resultType: "complete", tools: [{ name: "echo", inputSchema: { type: "object" } }] };
  const server = await webServer((request, response) => {
    const message = request.method === "POST" ? JSON.parse(request.body) : undefined;
    if (typeof message?.method === "string") methods.push(message.method);
    if (!isModern || message === undefined) return behaves(request, response);
    const isKnown = message.method === "server/discover" || message.method === "tools/list";
    const reply = isKnown ? { result: result(message.method) } : { error: { code: -32601, message: "unknown" } };
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...reply }));
  });
  return { ...server, methods };
}

const about = { name: "test", version: "1.0.0" };
const legacy = ["initialize", "notifications/initialized", "tools/list"];

test.each<readonly [claim: string, claimed: readonly string[], isModern: boolean, methods: readonly string[]]>([
  ["no protocol", [], false, ["server/discover", ...legacy]],
  ["a legacy protocol", ["2025-11-25", "2025-06-18"], false, legacy],
  ["both protocols", ["2026-07-28", "2025-11-25"], false, ["server/discover", ...legacy]],
  ["the modern protocol", ["2026-07-28"], false, ["server/discover", ...legacy]],
  ["a legacy protocol, wrongly", ["2025-11-25"], true, ["initialize", "server/discover", "tools/list"]],
])("the requests of the first connection, if the card claims %s", async (_claim, claimed, isModern, methods) => {
  await using server = await noting(isModern);
  await using site = await domain({ weather: `${server.origin}/mcp` }, claimed);
  await using here = await machine();
  const { code, stdout } = await here.run("mcp", "add", "--yes", "-s", "user", new URL(site.origin).host);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('"weather" is connected') });
  expect(server.methods).toEqual(methods);
});

test("the card's claim counts once: the next connection asks the server", async () => {
  await using server = await noting(false);
  await using site = await domain({ weather: `${server.origin}/mcp` }, ["2025-11-25"]);
  await using here = await machine();
  await here.run("mcp", "add", "--yes", "-s", "user", new URL(site.origin).host);
  server.methods.length = 0;
  expect((await here.run("mcp", "test", "weather")).code).toBe(0);
  expect(server.methods.slice(0, 2)).toEqual(["server/discover", "initialize"]);
});

test("in a script, several servers are named, and nothing is added", async () => {
  await using site = await domain({ one: "https://one.example/mcp", two: "https://two.example/mcp" });
  await using here = await machine();
  const { code, stderr } = await here.run("mcp", "add", "--yes", "-s", "user", new URL(site.origin).host);
  expect(code).toBe(2);
  expect(stderr).toContain("has 2 servers: com.example/one (https://one.example/mcp), com.example/two");
});

test("a name that is taken needs another, with --name", async () => {
  await using site = await domain({ one: "https://one.example/mcp" });
  await using here = await machine({ [userFile]: { mcpServers: { one: { command: "mine" } } } });
  const add = ["mcp", "add", "--yes", "--no-test", "-s", "user", new URL(site.origin).host];
  const { code, stderr } = await here.run(...add);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--name NAME, or add --replace")]);
  expect((await here.run(...add.slice(0, -1), "--name", "two", ...add.slice(-1))).code).toBe(0);
});

test("in a script, the only server needs a yes, and nothing is added without it", async () => {
  await using site = await domain({ one: "https://one.example/mcp" });
  await using here = await machine();
  const { code, stderr } = await here.run("mcp", "add", "-s", "user", new URL(site.origin).host);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/"one" \(https:\/\/one\.example\/mcp\) needs a yes[\s\S]*add --yes/),
  });
  await expect(here.read(userFile)).rejects.toThrow("ENOENT");
});

test("on a terminal, the user chooses and says yes", async () => {
  await using site = await domain({ one: "https://one.example/mcp", two: "https://two.example/mcp" });
  await using here = await machine();
  await using terminal = openTerminalHere(here, "mcp", "add", "--no-test", "-s", "user", new URL(site.origin).host);
  await terminal.until(/Which one\? \[1-2\]\s*$/);
  terminal.type("2\r");
  await terminal.until(/Add "two"\? \[y\/N\]\s*$/);
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(0);
  expect(await entries(here, userFile)).toEqual({ two: { httpUrl: "https://two.example/mcp" } });
});

test("a domain without a card", async () => {
  await using site = await domain({});
  await using here = await machine();
  const { code, stderr } = await here.run("mcp", "add", new URL(site.origin).host);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("has no catalog of MCP servers and no server card"),
  });
});
