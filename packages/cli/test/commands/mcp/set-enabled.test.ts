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
