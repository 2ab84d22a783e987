import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

test("settings schema prints a JSON Schema that knows the keys of an entry", async () => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.run("settings", "schema");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const schema = JSON.parse(stdout) as { properties: { mcpServers: unknown; fairlead: unknown } };
  expect(schema).toHaveProperty("$schema");
  expect(JSON.stringify(schema.properties.mcpServers)).toMatch(/"httpUrl"/);
});

test("settings validate names every problem with file, line and column; warnings alone exit with 0", async () => {
  await using here = await machine({ [userFile]: '{\n  "mcpServers": { "a": { "command": "x", "argz": [] } }\n}' });
  const { code, stdout, stderr } = await here.run("settings", "validate");
  expect(code).toBe(0);
  expect(stdout).toBe(
    `${here.home}/.gemini/settings.json:2:42: warning: server "a": "argz" is not a known key here and is ignored\n  next: Did you mean "args"?\n`,
  );
  expect(stderr).toBe("1 warning, no errors (1 settings file read)\n");
});

test("the workspace's file is checked before its folder is trusted, too", async () => {
  await using here = await machine({
    [projectFile]: '{\n  "mcpServers": {"a": {"url": 7}},\n  "b" 1\n}',
    [userFile]: { mcpServers: { c: {} } },
  });
  const { code, stdout } = await here.run("settings", "validate", "--json");
  expect(code).toBe(3);
  const { schemaVersion, valid, files, problems } = JSON.parse(stdout) as {
    schemaVersion: number;
    valid: boolean;
    files: { scope: string; state: string }[];
    problems: { severity: string; origin: { scope: string; line: number; column: number } }[];
  };
  expect({ schemaVersion, valid }).toEqual({ schemaVersion: 1, valid: false });
  expect(files.map(({ scope, state }) => [scope, state])).toEqual([
    ["system-defaults", "absent"],
    ["user", "read"],
    ["workspace", "broken"],
    ["system", "absent"],
  ]);
  expect(problems.map(({ severity, origin }) => [severity, origin.scope, origin.line, origin.column])).toEqual([
    ["error", "user", 3, 10],
    ["error", "workspace", 3, 7],
  ]);
});

test("settings path shows every scope, the root and how it was found, and our own folder", async () => {
  await using here = await machine({ [projectFile]: {} });
  const { stdout } = await here.run("settings", "path", "--json");
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    root: here.project,
    rootFrom: "gemini-folder",
    files: [
      { scope: "system-defaults", file: `${here.path}/etc/system-defaults.json`, state: "absent" },
      { scope: "user", file: `${here.home}/.gemini/settings.json`, state: "absent" },
      { scope: "workspace", file: `${here.project}/.gemini/settings.json`, state: "ignored" },
      { scope: "system", file: `${here.path}/etc/settings.json`, state: "absent" },
    ],
    trustedFolders: `${here.home}/.gemini/trustedFolders.json`,
    envFiles: {
      user: [`${here.home}/.gemini/.env`, `${here.home}/.env`],
      workspace: [`${here.project}/.gemini/.env`, `${here.project}/.env`],
    },
    state: `${here.home}/.fairlead`,
  });
  const text = (await here.run("settings", "path")).stdout;
  expect(text).toMatch(/workspace root +.*project +\(nearest folder with \.gemini\)\n/);
  expect(text).toMatch(/workspace settings +.*settings\.json +\(not read: the folder is not trusted\)\n/);
  expect(text).not.toMatch(/ \n/);
});

test("in the home folder there is no workspace file", async () => {
  await using here = await machine();
  expect((await here.runWith({ cwd: here.home }, "settings", "path")).stdout).toMatch(/workspace settings +none/);
});

test("settings path shows the user every file in order, weakest first, with its state", async () => {
  await using here = await machine({ [userFile]: {}, [projectFile]: {}, "etc/settings.json": "{" });
  const shown = async (...words: readonly string[]): Promise<string> => {
    const { stdout } = await here.run("settings", "path", ...words);
    // The width of a column depends on the machine's folder.
    return stdout.replaceAll(here.path, "").replaceAll(/ {2,}/g, "  ");
  };
  const files = (workspace: string): string => `system-defaults settings  /etc/system-defaults.json  (does not exist)
user settings  /home/.gemini/settings.json
workspace settings  ${workspace}
system settings  /etc/settings.json  (invalid; see: fairlead settings validate)
trusted folders  /home/.gemini/trustedFolders.json
env file  /home/.gemini/.env
env file  /home/.env
`;
  const file = "/project/.gemini/settings.json";
  const envFiles = "env file  /project/.gemini/.env\nenv file  /project/.env\n";
  const state = "state folder  /home/.fairlead\n";
  const none = "none  (none: this is the home folder, or --no-workspace is set)";
  const root = "workspace root  /project  (nearest folder with .gemini)";
  expect(await shown()).toBe(`${root}\n${files(`${file}  (not read: the folder is not trusted)`)}${envFiles}${state}`);
  expect(await shown("--trust-workspace", "-C", here.project)).toBe(
    `workspace root  /project  (given with -C)\n${files(file)}${envFiles}${state}`,
  );
  expect(await shown("-C", here.home)).toBe(`workspace root  /home  (given with -C)\n${files(none)}${state}`);
});

test("settings validate counts files, warnings and errors", async () => {
  await using here = await machine();
  expect(await here.run("settings", "validate")).toEqual({
    code: 0,
    stdout: "",
    stderr: "no problems (0 settings files read)\n",
  });
  await here.write(userFile, { mcpServers: { odd: 7, more: 8 } });
  await here.write("home/.gemini/policies/m.toml", "[[rule]]\ndecision = 7\npriority = 1\n");
  const { code, stdout, stderr } = await here.run("settings", "validate");
  expect([code, stderr]).toEqual([
    3,
    "fairlead: 3 errors in the settings\n  next: correct the lines above, then: fairlead settings validate\n",
  ]);
  expect(stdout.match(/^\S+: error: /gm)).toEqual([
    `${here.home}/.gemini/settings.json:3:12: error: `,
    `${here.home}/.gemini/settings.json:4:13: error: `,
    expect.stringMatching(/m\.toml:\d+:\d+: error: $/),
  ]);
});
