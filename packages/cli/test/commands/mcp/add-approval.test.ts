import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { entries, machine, projectFile, userFile } from "../../support/machine.ts";
import { shellProgram } from "../../support/path-program.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

describe("approval", () => {
  test("a server added to a project is approved; the folder is not trusted by that, and it is said", async () => {
    await using here = await machine();
    const { stderr } = await here.run("mcp", "add", "a", "node");
    expect(stderr).toMatch(/not trusted yet[\s\S]*fairlead trust add/);
    expect((await here.run("mcp", "list")).stdout).toMatch(/blocked: folder not trusted/);
    await here.run("trust", "add", "--yes");
    expect((await here.run("trust", "list")).stdout).toMatch(/a +approved/);
    expect((await here.run("mcp", "get", "a")).stdout).toMatch(/ready to start/);
  });

  test("on a terminal, mcp add asks whether to trust the folder: after a yes the server is connected", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { other: { command: "touch", args: ["ran"] } } } });
    const { command, args } = stdioServer("well-behaved");
    await using terminal = openTerminalHere(here, "mcp", "add", "--sandbox", "default", "a", command, ...args);
    await terminal.until(/Trust .*project\? \[y\/N\]\s*$/);
    terminal.type("y\r");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toMatch(/trusted: .*\n"a" is connected: 1 tool\n/);
    const list = (await here.run("trust", "list")).stdout;
    expect(list).toMatch(/a +approved/);
    // Only what was typed is approved.
    expect((await here.run("mcp", "get", "other")).stdout).toMatch(/blocked: awaiting approval/);
    expect(await readdir(here.project)).toEqual([".gemini"]);
  });

  test.each([
    ["\r", 0, /not trusted yet[\s\S]*next: fairlead trust add$/],
    ["\u0003", 130, /the server was added, the folder is not trusted\n {2}next: fairlead trust add$/],
  ])("with another answer (%j) the folder is not trusted, and the entry stays", async (answer, code, said) => {
    await using here = await machine();
    await using terminal = openTerminalHere(here, "mcp", "add", "--sandbox", "default", "a", "touch", "ran");
    await terminal.until(/Trust .*project\? \[y\/N\]\s*$/);
    terminal.type(answer);
    expect(await terminal.exitCode).toBe(code);
    expect(terminal.screen()).toMatch(said);
    expect(await entries(here, projectFile)).toEqual({ a: { command: "touch", args: ["ran"] } });
    expect((await here.run("mcp", "list")).stdout).toMatch(/blocked: folder not trusted/);
    expect(await readdir(here.project)).toEqual([".gemini"]);
  });

  test("a program of the folder is shown before the question, and is not approved by a no", async () => {
    await using here = await machine();
    const file = await shellProgram(here, "project/bin/npx", "exit 1");
    const env = { PATH: `${join(here.project, "bin")}:${process.env["PATH"]}` };
    await using terminal = openTerminalHere(
      { ...here, env: { ...here.env, ...env } },
      "mcp",
      "add",
      "--sandbox",
      "default",
      "a",
      "npx",
      "b",
    );
    await terminal.until(/Trust .*project\? \[y\/N\]\s*$/);
    expect(terminal.screen().replaceAll("\n", "")).toMatch(/runs .*project\/bin\/npx, a file of this folder.*Trust /);
    terminal.type("\r");
    expect(await terminal.exitCode).toBe(0);
    const { stderr } = await here.runWith({ env }, "trust", "add");
    expect(stderr).toMatch(/1 server to approve/);
    expect(stderr).toContain(`${file} (SHA-256 `);
  });

  test("without a terminal, a program of the folder is shown, also with --quiet and --json", async () => {
    await using here = await machine();
    const file = await shellProgram(here, "project/bin/npx", "exit 1");
    const env = { PATH: `${join(here.project, "bin")}:${process.env["PATH"]}` };
    const { stderr } = await here.runWith({ env }, "mcp", "add", "--quiet", "a", "npx", "b");
    expect(stderr).toContain(`note: runs ${file}, a file of this folder (SHA-256 `);
    const { stdout } = await here.runWith({ env }, "mcp", "add", "--json", "c", "npx", "b");
    expect(JSON.parse(stdout).servers[0].notes).toContainEqual(expect.stringContaining(`runs ${file}, `));
  });

  test("a folder that a rule does not trust is not asked about", async () => {
    await using here = await machine();
    await here.write("home/.gemini/trustedFolders.json", { [here.project]: "DO_NOT_TRUST" });
    await using terminal = openTerminalHere(here, "mcp", "add", "--sandbox", "default", "a", "node");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).not.toMatch(/Trust /);
  });

  test("what a planted .env file decides has not been seen, and is not approved", async () => {
    await using here = await machine({ "project/.env": "NODE=/tmp/evil/node" });
    const { code, stdout, stderr } = await here.run("mcp", "add", "x", "$NODE", "server.js");
    expect(code).toBe(0);
    expect(stdout).toMatch(/resolves to +\/tmp\/evil\/node\n/);
    expect(stderr).toMatch(
      /"x" is not approved yet, because .*\.env file sets variables for it: NODE\n[\s\S]*next: fairlead trust add\n/,
    );
    expect((await here.run("trust", "add")).stderr).toMatch(/1 server to approve/);
    const { servers } = JSON.parse((await here.run("mcp", "add", "--json", "y", "$NODE")).stdout);
    expect(servers).toMatchObject([{ name: "y", approved: false }]);
  });

  test("with a value of the person's own it is approved", async () => {
    await using here = await machine({ "project/.env": "NODE=/tmp/evil/node", "home/.env": "OWN=node" });
    await here.runWith({ env: { NODE: "node" } }, "mcp", "add", "x", "$NODE", "$OWN");
    expect((await here.run("trust", "list")).stdout).toMatch(/x +approved/);
  });

  test("an approval that cannot be stored is told after what was added and how to undo it", async () => {
    await using here = await machine({ file: "" });
    const env = { FAIRLEAD_HOME: join(here.path, "file/state") };
    const { code, stdout, stderr } = await here.runWith({ env }, "mcp", "add", "a", "node");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^added "a"/);
    expect(stderr).toMatch(
      /undo: fairlead mcp remove -s project a\nwarning: added, but the approval could not be stored: /,
    );
    const { servers } = JSON.parse((await here.runWith({ env }, "mcp", "add", "--json", "b", "node")).stdout);
    expect(servers).toMatchObject([{ name: "b", approved: false }]);
  });

  test("with -C, the folder that is to be trusted is named", async () => {
    await using here = await machine({ "else where/.gemini/settings.json": {} });
    const { stderr } = await here.run("-C", "../else where", "mcp", "add", "p", "node");
    expect(stderr).toContain(`next: fairlead trust add '${here.path}/else where'\n`);
  });

  test("another server of the same file is not approved with it", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { planted: { command: "evil" } } } });
    await here.run("mcp", "add", "mine", "no-such-program");
    const { servers } = JSON.parse(
      (await here.runWith({ env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } }, "mcp", "list", "--json")).stdout,
    );
    expect(servers.map(({ name, reason }: { name: string; reason: string }) => [name, reason])).toEqual([
      ["planted", "awaiting_approval"],
      ["mine", "command_not_found"],
    ]);
  });

  test("a server replaced by hand afterwards waits for approval again", async () => {
    await using here = await machine();
    await here.run("mcp", "add", "a", "node");
    await here.write(projectFile, { mcpServers: { a: { command: "node", args: ["-e", "1"] } } });
    const { stdout } = await here.runWith({ env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } }, "mcp", "list");
    expect(stdout).toMatch(/awaiting approval/);
  });
});

describe("what was added is tried at once", () => {
  const { command, args } = stdioServer("well-behaved");

  test("what it offers is shown", async () => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run("mcp", "add", "-s", "user", "a", command, ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^added "a"[\s\S]*\n"a" is connected: 1 tool\n$/);
    expect(stderr).toMatch(/next: fairlead tools a\n$/);
    const other = await here.run("mcp", "add", "-s", "user", "--json", "b", command, ...args);
    expect(JSON.parse(other.stdout)).toMatchObject({
      servers: [{ name: "b", test: { name: "b", status: "connected", tools: 1, protocolVersion: "2025-11-25" } }],
    });
  });

  test("one that does not work stays in the settings, with what to do about it; adding it did work", async () => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run("mcp", "add", "-s", "user", "a", "no-such-program");
    expect(code).toBe(0);
    expect(stdout).not.toContain("connected");
    expect(stderr).toMatch(
      /warning: "a" was added, but Fairlead cannot connect to it: .*no-such-program.*\n {2}next: .*\nto test again: fairlead mcp test a\n$/,
    );
    expect(await entries(here, userFile)).toEqual({ a: { command: "no-such-program" } });
    const json = await here.run("mcp", "add", "-s", "user", "--json", "b", "no-such-program");
    expect({ code: json.code, ...JSON.parse(json.stdout) }).toMatchObject({
      code: 0,
      servers: [{ name: "b", test: { status: "disconnected", error: { code: "command_not_found" } } }],
    });
  });

  test.each([
    ["with --no-test", ["-s", "user", "--no-test"]],
    ["while the folder's settings do not count", ["-s", "project"]],
  ])("not %s", async (_when, options) => {
    await using here = await machine();
    const touch = ["touch", join(here.project, "started")];
    expect(await here.run("mcp", "add", ...options, "a", ...touch)).toMatchObject({ code: 0 });
    expect(await readdir(here.project)).toEqual([".gemini"]);
  });
});
