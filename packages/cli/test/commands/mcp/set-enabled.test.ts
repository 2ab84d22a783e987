import { expect, test } from "vitest";
import { type Ending, machine, projectFile, userFile } from "../../support/machine.ts";

test("the user sees the new state, the file, and an undo command only if the file changed", async () => {
  await using here = await machine();
  const run = async (...words: readonly string[]): Promise<Ending> => {
    const { code, stdout, stderr } = await here.run("mcp", ...words);
    return { code, stdout: stdout.replaceAll(here.path, ""), stderr };
  };
  const disabled = '"demo" is disabled (/home/.gemini/settings.json)\n';
  const enabled = '"demo" is enabled (/home/.gemini/settings.json)\n';
  expect(await run("disable", "demo")).toEqual({
    code: 0,
    stdout: disabled,
    stderr: "undo: fairlead mcp enable demo\n",
  });
  expect(JSON.parse(await here.read(userFile))).toEqual({ fairlead: { servers: { demo: { enabled: false } } } });
  expect(await run("disable", "demo")).toEqual({ code: 0, stdout: disabled, stderr: "" });
  expect(JSON.parse((await run("disable", "demo", "--json")).stdout)).toEqual({
    schemaVersion: 1,
    name: "demo",
    enabled: false,
    file: "/home/.gemini/settings.json",
  });
  expect(await run("enable", "demo")).toEqual({
    code: 0,
    stdout: enabled,
    stderr: "undo: fairlead mcp disable demo\n",
  });
  expect(await run("enable", "demo")).toEqual({ code: 0, stdout: enabled, stderr: "" });
  expect(await run("enable", "dem")).toEqual({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^fairlead: no server "dem" is configured/),
  });
});

test("the user who enables a server is warned if the project still disables it", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { p: { command: "p" } }, fairlead: { servers: { p: { enabled: false } } } },
  });
  await here.run("trust", "add", "--yes");
  await here.run("mcp", "disable", "p");
  const file = `${here.home}/.gemini/settings.json`;
  const position = { scope: "workspace", file: `${here.project}/.gemini/settings.json`, line: 10, column: 20 };
  expect(await here.run("mcp", "enable", "p", "-C", here.project)).toEqual({
    code: 0,
    stdout: `"p" is no longer disabled in your user settings (${file})\n`,
    stderr: `warning: the server is still disabled: fairlead.servers.p.enabled is false in ${position.file}:10:20 (workspace).
undo: fairlead mcp disable -C ${here.project} p
`,
  });
  const { stdout, stderr } = await here.run("mcp", "enable", "p", "--json");
  expect([JSON.parse(stdout), stderr]).toEqual([
    { schemaVersion: 1, name: "p", enabled: false, file, disabledBy: position },
    "",
  ]);
});

test('an entry with "disabled": true does not start, and enabling removes only that key', async () => {
  await using here = await machine({
    [userFile]: `{
  // mine
  "mcpServers": { "off": { "command": "no-such-program", "disabled": true, "timeout": 5 } }
}
`,
  });
  const file = `${here.home}/.gemini/settings.json`;
  const listed = await here.run("mcp", "list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({
    servers: [
      {
        name: "off",
        status: "disabled",
        reason: "user",
        error: {
          code: "denied",
          message: `"off" is disabled: its entry has "disabled": true in ${file}:3`,
          next: "fairlead mcp enable off",
        },
      },
    ],
  });
  expect(listed.stderr).toBe("");
  expect((await here.run("mcp", "list")).stdout).not.toContain("warning");
  expect((await here.run("call", "off.anything")).code).toBe(6);
  expect(await here.run("mcp", "enable", "off")).toEqual({
    code: 0,
    stdout: `"off" is enabled (${file})\n`,
    stderr: "undo: fairlead mcp disable off\n",
  });
  expect(await here.read(userFile)).toBe(`{
  // mine
  "mcpServers": { "off": { "command": "no-such-program", "timeout": 5 } }
}
`);
});

test("a project's entry with \"disabled\": true is enabled in the project's file, and needs its approval", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { p: { command: "p", disabled: true } } } });
  await here.run("trust", "add", "--yes");
  const file = `${here.project}/.gemini/settings.json`;
  expect((await here.run("mcp", "enable", "p")).stdout).toBe(`"p" is enabled (${file})\n`);
  expect(JSON.parse(await here.read(projectFile))).toEqual({ mcpServers: { p: { command: "p" } } });
  expect(JSON.parse((await here.run("mcp", "list", "--json")).stdout)).toMatchObject({
    servers: [{ name: "p", status: "blocked", reason: "awaiting_approval" }],
  });
});

test('"disabled": true in a system file stays, and the user is told where it is', async () => {
  await using here = await machine({ "etc/settings.json": { mcpServers: { s: { command: "s", disabled: true } } } });
  const system = `${here.path}/etc/settings.json`;
  expect((await here.run("mcp", "enable", "s")).stderr).toContain(
    `warning: the server is still disabled: its entry has "disabled": true in ${system}:`,
  );
});

test("a pasted entry that is disabled is added and not started", async () => {
  await using here = await machine();
  const entry = '{"command": "no-such-program", "disabled": true}';
  const { code, stderr } = await here.run("mcp", "add", "-s", "user", "off", entry);
  expect(code).toBe(0);
  expect(stderr).toContain('"off" is disabled: its entry has "disabled": true in ');
  expect(stderr).toContain("next: fairlead mcp enable off\n");
  expect(stderr).not.toContain("cannot connect");
});
