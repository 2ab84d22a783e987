import { readFile } from "node:fs/promises";
import { browser } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { addressOn, signInScene } from "../support/sign-in-scene.ts";
import { openTerminal } from "../support/terminal.ts";
import { openTerminalHere } from "../support/terminal-here.ts";

test("the browser opens when the person says so, and comes back by itself; signing out revokes", async () => {
  await using scene = await signInScene();
  const { here, authorization, guarded } = scene;
  await using terminal = openTerminal(here, "mcp", "auth", "docs");
  const asked = await terminal.until(/Open the address in your browser\? \[y\/N\]/);
  const { hostname } = new URL(authorization.issuer);
  expect(asked).toContain(`"docs" requires a sign-in at ${hostname} (authorization server ${authorization.issuer}).`);
  expect(asked).toContain("Requested scopes: read");
  const address = addressOn(asked);
  terminal.type("y\r");
  expect(await scene.opened()).toBe(address);
  await terminal.until(/The browser is open/);
  expect((await browser(address)).status).toBe(200);
  const seen = await terminal.until(/next: fairlead tools/);
  expect(await terminal.exitCode).toBe(0);
  expect(seen).toContain(`Signed in to "docs" at ${authorization.issuer}`);
  expect(seen).toContain("docs  connected: 1 tool");
  expect(seen).toContain("next: fairlead tools docs");

  const listed = await here.run("mcp", "list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({
    servers: [{ name: "docs", status: "connected", signIn: { state: "signed_in", issuer: authorization.issuer } }],
  });
  const before = guarded.seen.length;
  const { code, stdout } = await here.run("mcp", "logout", "docs");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `signed out of "docs"; its tokens are revoked at ${authorization.issuer}\n`,
  });
  expect(authorization.callsTo("revoke")).toHaveLength(2);
  expect(guarded.seen).toHaveLength(before);
  expect(await here.run("call", "docs.echo", "text=1")).toMatchObject({ code: 5 });
});

test("over SSH the address is pasted back, and there is a recipe for forwarding the port", async () => {
  await using scene = await signInScene({ env: { SSH_CONNECTION: "10.0.0.1 50000 10.0.0.2 22" } });
  const { here } = scene;
  await using terminal = openTerminalHere(here, "mcp", "auth", "docs");
  const asked = await terminal.until(/address from the browser:$/m);
  const address = addressOn(asked);
  const { port } = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
  expect(asked).toContain(`ssh -L ${port}:127.0.0.1:${port} HOST`);
  terminal.type("http://127.0.0.1:1/elsewhere?code=1\r");
  await terminal.until(
    /The pasted text cannot be used: this is not the address that the browser shows after the sign-in/,
  );
  const { address: ended } = await browser(address, { visits: false });
  terminal.type(`${ended}\r`);
  await terminal.until(/docs {2}connected: 1 tool/);
  expect(await terminal.exitCode).toBe(0);
});

test("a browser that comes back by itself ends the question for the address", async () => {
  await using scene = await signInScene();
  await using terminal = openTerminalHere(scene.here, "mcp", "auth", "docs", "--no-browser");
  const asked = await terminal.until(/address from the browser:$/m);
  await browser(addressOn(asked));
  const seen = await terminal.until(/docs {2}connected: 1 tool/);
  expect(seen).toMatch(/address from the browser: ?\nSigned in to "docs"/);
  expect(await terminal.exitCode).toBe(0);
});

test("a code is typed on another device", async () => {
  await using scene = await signInScene({ authorization: { deviceInterval: 1 } });
  const { here, authorization } = scene;
  await using terminal = openTerminalHere(here, "mcp", "auth", "docs", "--device", "--scopes", "read,write");
  const asked = await terminal.until(/and type this code: \S+/);
  authorization.decideDevice(/type this code: (\S+)/.exec(asked)?.[1] ?? "", "approve");
  await terminal.until(/docs {2}connected: 1 tool/);
  expect(await terminal.exitCode).toBe(0);
  expect(authorization.callsTo("device").map(({ params }) => params.get("scope"))).toEqual(["read write"]);
});

test("Ctrl-C ends it, and nothing is left", async () => {
  await using scene = await signInScene();
  await using terminal = openTerminal(scene.here, "mcp", "auth", "docs", "--no-browser");
  await terminal.until(/address from the browser:$/m);
  terminal.type("\u0003");
  expect(await terminal.exitCode).toBe(130);
  expect(terminal.screen()).toMatch(/^fairlead: sign-in to "docs" cancelled$/m);
  expect(scene.authorization.callsTo("token")).toEqual([]);
  expect(processesOf(scene.here)).toEqual([]);
});

test("a refusal on the page of the authorization server is told with the next command", async () => {
  await using scene = await signInScene();
  await using terminal = openTerminalHere(scene.here, "mcp", "auth", "docs", "--no-browser");
  await browser(addressOn(await terminal.until(/address from the browser:$/m)), { says: "deny" });
  expect(await terminal.exitCode).toBe(5);
  expect(terminal.screen()).toMatch(
    /sign-in to "docs" failed at the browser step: \S+ refused the sign-in \(access_denied/,
  );
});

test("the sign-in of Gemini CLI is offered once, and its file is left as it is", async () => {
  await using scene = await signInScene();
  const { here, authorization, guarded } = scene;
  const file = "home/.gemini/mcp-oauth-tokens.json";
  const theirs = { serverName: "theirs", clientId: "gemini", tokenUrl: `${authorization.issuer}/token` };
  const token = { accessToken: "gemini-access", refreshToken: "gemini-refresh", tokenType: "Bearer" };
  const path = await here.write(file, [{ ...theirs, mcpServerUrl: guarded.url, token }]);
  await using terminal = openTerminalHere(here, "mcp", "auth", "docs", "--no-browser");
  await terminal.until(/Use this sign-in in Fairlead too\? \[y\/N\]/);
  terminal.type("y\r");
  // It is tried, turns out to be of no use, and so a person is asked.
  await browser(addressOn(await terminal.until(/address from the browser:$/m)));
  expect(await terminal.exitCode).toBe(0);
  expect(guarded.seen.map(({ headers }) => headers.authorization)).toContain("Bearer gemini-access");
  expect(authorization.callsTo("token", "refresh_token")).toHaveLength(1);

  await using again = openTerminalHere(here, "mcp", "auth", "docs", "--no-browser");
  expect(await again.until(/address from the browser:$/m)).not.toContain("Gemini CLI");
  again.type("\u0003");
  expect(await again.exitCode).toBe(130);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual([{ ...theirs, mcpServerUrl: guarded.url, token }]);
});
