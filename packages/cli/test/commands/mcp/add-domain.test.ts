import { behaves, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { entries, machine, userFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const cardType = "application/mcp-server-card+json";

/** A domain with one card for each address. */
async function domain(addresses: Readonly<Record<string, string>>) {
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
          remotes: [{ type: "streamable-http", url: addresses[name], supportedProtocolVersions: ["1999-01-01"] }],
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
  const { code, stdout } = await here.run("mcp", "add", "-s", "user", new URL(site.origin).host);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('"weather" is connected') });
  expect(stdout).toContain("checked by nobody");
  expect(await entries(here, userFile)).toEqual({ weather: { httpUrl: url } });
});

test("in a script, several servers are named, and nothing is added", async () => {
  await using site = await domain({ one: "https://one.example/mcp", two: "https://two.example/mcp" });
  await using here = await machine();
  const { code, stderr } = await here.run("mcp", "add", "--yes", "-s", "user", new URL(site.origin).host);
  expect(code).toBe(2);
  expect(stderr).toContain("has 2 servers: com.example/one (https://one.example/mcp), com.example/two");
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
