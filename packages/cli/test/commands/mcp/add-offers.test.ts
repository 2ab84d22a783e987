import { browser, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { pathOf, shellProgram } from "../../support/path-program.ts";
import { addressOn, signInScene } from "../../support/sign-in-scene.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

test("on a terminal, a server that needs a sign-in is offered one, and is connected after it", async () => {
  await using scene = await signInScene({ env: { SSH_CONNECTION: "1 2 3 4" } });
  const { here, guarded } = scene;
  await using terminal = openTerminalHere(here, "mcp", "add", "-s", "user", "other", guarded.url);
  await terminal.until(/Sign in to "other" now\? \[y\/N\]\s*$/);
  terminal.type("y\r");
  await browser(addressOn(await terminal.until(/address from the browser:$/m)));
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/^other {2}connected: /m);
});

test("a no leaves the server as it is, with the command for later", async () => {
  await using scene = await signInScene();
  const { here, guarded } = scene;
  await using terminal = openTerminalHere(here, "mcp", "add", "-s", "user", "other", guarded.url);
  await terminal.until(/Sign in to "other" now\? \[y\/N\]\s*$/);
  terminal.type("\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain("next: fairlead mcp auth other");
  expect(scene.authorization.seen).toEqual([]);
});

/** A machine whose `npx` starts a server, and whose `npm` knows a version. */
async function withPackage() {
  const here = await machine();
  const { command, args } = stdioServer("well-behaved");
  await shellProgram(here, "programs/npx", `exec ${[command, ...args].map((word) => `'${word}'`).join(" ")}`);
  await shellProgram(here, "programs/npm", `echo '"1.2.3"'`);
  return { ...here, env: { ...here.env, PATH: `${pathOf(here, "programs")}:${here.env["PATH"] ?? ""}` } };
}

test.each([
  ["y", "pkg@1.2.3"],
  ["", "pkg"],
])("on a terminal, the exact version of a package is offered: %j writes %s", async (answer, written) => {
  await using here = await withPackage();
  await using terminal = openTerminalHere(
    here,
    "mcp",
    "add",
    "--sandbox",
    "default",
    "-s",
    "user",
    "a",
    "npx",
    "-y",
    "pkg",
  );
  await terminal.until(/Write the exact version of "a" into the settings now\? \[y\/N\]\s*$/);
  terminal.type(`${answer}\r`);
  expect(await terminal.exitCode).toBe(0);
  expect(JSON.parse(await here.read("home/.gemini/settings.json"))).toEqual({
    mcpServers: { a: { command: "npx", args: ["-y", written] } },
  });
});

test("without a terminal nothing is asked, and the notes have the commands", async () => {
  await using here = await withPackage();
  const { code, stderr } = await here.runWith({ env: here.env }, "mcp", "add", "-s", "user", "a", "npx", "-y", "pkg");
  expect(code).toBe(0);
  expect(stderr).toContain("to write the exact one: fairlead mcp pin a\n");
});
