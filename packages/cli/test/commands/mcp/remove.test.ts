import { join } from "node:path";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const one = { mcpServers: { a: { command: "x" } } };

test("removes the entry from the file that has it, also in an untrusted folder", async () => {
  await using here = await machine({ [projectFile]: one });
  const { code, stdout } = await here.run("mcp", "remove", "a");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `removed "a" from ${here.project}/.gemini/settings.json (workspace)\n`,
  });
  expect(JSON.parse(await here.read(projectFile))).toEqual({ mcpServers: {} });
});

test("in both files it must be said which; each can be removed alone", async () => {
  await using here = await machine({ [projectFile]: one, [userFile]: one });
  const { code, stderr } = await here.run("mcp", "remove", "a");
  expect(code).toBe(2);
  expect(stderr).toMatch(/fairlead mcp remove -s project a or: fairlead mcp remove -s user a/);
  expect(await here.run("mcp", "remove", "-s", "user", "a")).toMatchObject({ code: 0 });
  expect([JSON.parse(await here.read(projectFile)), JSON.parse(await here.read(userFile))]).toEqual([
    one,
    { mcpServers: {} },
  ]);
});

test("takes the approval along: the same entry, put back by hand, asks again", async () => {
  await using here = await machine({ [projectFile]: one });
  await here.run("trust", "add", "--yes");
  await here.run("mcp", "remove", "a");
  await here.write(projectFile, one);
  expect((await here.run("mcp", "list")).stdout).toMatch(/awaiting approval/);
});

test.each([
  ["an unknown name", ["b"], /no server "b"/],
  ["a name that is not in that file", ["-s", "user", "a"], /"a" is not in .*home/],
  ["a name of the system's", ["sys"], /a system file that Fairlead does not edit/],
])("%s: exit code 2, nothing written", async (_what, argv, message) => {
  await using here = await machine({
    [projectFile]: one,
    "etc/settings.json": { mcpServers: { sys: { command: "x" } } },
  });
  const { code, stderr } = await here.run("mcp", "remove", ...argv);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(JSON.parse(await here.read(projectFile))).toEqual(one);
});

test("enable and disable write one switch into the user settings, for servers of every scope", async () => {
  await using here = await machine({ [projectFile]: one, [userFile]: "{ // mine\n}" });
  expect(await here.run("mcp", "disable", "a")).toMatchObject({ code: 0 });
  expect(await here.read(userFile)).toMatch(/^\{ \/\/ mine\n/);
  expect(JSON.parse((await here.read(userFile)).replace("// mine", ""))).toEqual({
    fairlead: { servers: { a: { enabled: false } } },
  });
  expect((await here.run("mcp", "list")).stdout).toMatch(/a {2}disabled/);
  expect(JSON.parse((await here.run("mcp", "enable", "a", "--json")).stdout)).toEqual({
    schemaVersion: 1,
    name: "a",
    enabled: true,
    file: `${here.home}/.gemini/settings.json`,
  });
  expect((await here.run("mcp", "list")).stdout).toMatch(/a {2}blocked: folder not trusted/);
  expect(JSON.parse(await here.read(projectFile))).toEqual(one);
});

test("what was said about the server goes with its last entry, and is said", async () => {
  const said = { fairlead: { servers: { a: { sampling: true }, b: { enabled: false } } } };
  await using here = await machine({ [userFile]: { ...one, ...said }, [projectFile]: one });
  await here.run("mcp", "remove", "-s", "project", "a");
  expect(JSON.parse(await here.read(userFile))).toMatchObject(said);
  const { stderr } = await here.run("mcp", "remove", "a");
  expect(stderr).toContain('also removed: fairlead.servers.a, which was {"sampling":true}\n');
  expect(JSON.parse(await here.read(userFile))).toEqual({
    mcpServers: {},
    fairlead: { servers: { b: { enabled: false } } },
  });
});

test("a server that mcp.serverCommand makes has no entry to remove", async () => {
  await using here = await machine({ [userFile]: '{\n "mcp": {\n  "serverCommand": "node x.js" } }' });
  const { code, stderr } = await here.run("mcp", "remove", "mcp");
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /mcp\.serverCommand defines it in .*settings\.json:3\n {2}next: remove "serverCommand" from "mcp"/,
  );
});

test("an entry is removed although its approval cannot be withdrawn", async () => {
  await using here = await machine({ [projectFile]: one, file: "" });
  const env = { FAIRLEAD_HOME: join(here.path, "file/state") };
  const { code, stdout, stderr } = await here.runWith({ env }, "mcp", "remove", "a");
  expect(code).toBe(0);
  expect(stdout).toMatch(/removed "a"/);
  expect(stderr).toMatch(/warning: the server's approval could not be removed: [\s\S]*undo: fairlead mcp add/);
});

test("an entry is removed although its saved skills cannot be removed, and the undo line is printed", async () => {
  await using here = await machine({ [userFile]: one, "home/.fairlead/server-skills": "a file instead of a folder" });
  const { code, stdout, stderr } = await here.run("mcp", "remove", "a");
  expect(code).toBe(0);
  expect(stdout).toMatch(/removed "a"/);
  expect(stderr).toMatch(/warning: the server's saved skills could not be removed: [\s\S]*undo: fairlead mcp add/);
  expect(JSON.parse(await here.read(userFile))).toEqual({ mcpServers: {} });
});

test("enabling says which other file still keeps the server off", async () => {
  const off = { fairlead: { servers: { a: { enabled: false } } } };
  await using here = await machine({ [userFile]: { ...one, ...off }, [projectFile]: off });
  await here.run("trust", "add", "--yes");
  const { stdout, stderr } = await here.run("mcp", "enable", "a");
  expect(stdout).toMatch(/"a" is no longer disabled in your user settings/);
  expect(stderr).toMatch(/still disabled: .* false in .*project\/\.gemini\/settings\.json:5:\d+ \(workspace\)/);
  expect(JSON.parse((await here.run("mcp", "enable", "a", "--json")).stdout)).toMatchObject({
    enabled: false,
    disabledBy: { scope: "workspace" },
  });
});

test.each(["enable", "disable"])("mcp %s of an unknown name writes nothing", async (verb) => {
  await using here = await machine({ [userFile]: one });
  const { code, stderr } = await here.run("mcp", verb, "aa");
  expect(code).toBe(2);
  expect(stderr).toMatch(/did you mean "a"\?/);
  expect(JSON.parse(await here.read(userFile))).toEqual(one);
});
