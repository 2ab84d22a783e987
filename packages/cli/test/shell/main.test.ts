import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { withCommandWord } from "../../src/shell/command-word.ts";
import { main } from "../../src/shell/main.ts";
import { verbs } from "../../src/shell/verbs.ts";
import { machine, projectFile, userFile } from "../support/machine.ts";

const page = readFileSync(new URL("../../../../docs/commands.md", import.meta.url), "utf8");
/** The options that every command has. The page of commands leaves them out. */
const globalOptions = /Global options:\n(?: .*\n)+\n/;
const named = verbs.map(({ words }) => words).filter((words) => words !== "");

test.each(named)("fairlead %s --help can be used without the README", async (words) => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.run(...words.split(" "), "--help");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Usage: fairlead /);
  expect(stdout).toMatch(/Examples?:\n +.*fairlead /);
  expect(stdout).toContain("--json");
  const section = `## fairlead ${words}\n\n\`\`\`text\n${stdout.replace(globalOptions, "").trimEnd()}\n\`\`\`\n`;
  if (words !== "help errors") expect(page, "npm run docs writes docs/commands.md").toContain(section);
});

test.each(named)("fairlead help %s is the same help", async (words) => {
  await using here = await machine();
  const help = await here.run("help", ...words.replace("help ", "").split(" "));
  if (words !== "help errors") expect(help).toEqual(await here.run(...words.split(" "), "--help"));
  else expect(help.stdout).toMatch(/^code +exit +meaning/);
});

test("--version with --json is one document", async () => {
  await using here = await machine();
  const { code, stdout } = await here.run("--version", "--json");
  expect({ code, document: JSON.parse(stdout) }).toEqual({
    code: 0,
    document: { schemaVersion: 1, version: "0.0.0-source" },
  });
});

test("help lists every command", async () => {
  await using here = await machine();
  const { stdout } = await here.run("--help");
  for (const words of named.filter((name) => !name.startsWith("help"))) expect(stdout).toContain(`fairlead ${words} `);
  expect(page, "npm run docs writes docs/commands.md").toContain(`\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n`);
});

test.each(["mcp", "trust", "policy", "secret", "settings"])("fairlead %s alone shows the group", async (group) => {
  await using here = await machine();
  const { code, stdout } = await here.run(group);
  expect(code).toBe(0);
  for (const words of named.filter((name) => name.startsWith(`${group} `)))
    expect(stdout).toContain(`fairlead ${words} `);
});

describe("mistakes are answered with exit code 2, the nearest word and where to look", () => {
  test.each([
    [["mpc", "list"], /did you mean "mcp"/, /fairlead --help/],
    [["mcp", "lst"], /did you mean "mcp list"/, /fairlead mcp --help/],
    [["mcp", "list", "--strct"], /did you mean --strict\?/, /fairlead mcp list --help/],
    [["mcp", "get", "a", "extra"], /too many arguments/, /fairlead mcp get --help/],
    [["mcp", "get"], /missing required argument 'name'/, /fairlead mcp get --help/],
    [["mcp", "list", "-C"], /argument missing/, /fairlead mcp list --help/],
  ])("%j", async (argv, message, next) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run(...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(next);
  });

  test("with --json, as one document on stdout", async () => {
    await using here = await machine();
    const { code, stdout } = await here.run("mcp", "lst", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      error: { code: "usage", next: "fairlead mcp --help" },
    });
  });
});

test("a group with --json and no command is asked back, in JSON", async () => {
  await using here = await machine();
  for (const argv of [
    ["mcp", "--json"],
    ["--json", "mcp"],
  ]) {
    const { code, stdout } = await here.run(...argv);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "usage", message: 'a command is missing after "mcp"' },
    });
  }
  expect((await here.run("mcp", "--json", "list")).stdout).toMatch(/"servers": \[\]/);
});

test("where only npx finds the command, every command that is shown says so", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "x", comand: 1 }, off: { command: "x" } } },
    [projectFile]: { mcpServers: { b: { command: "x" } } },
  });
  const commands = [
    ["mcp", "add", "new", "x"],
    ["mcp", "disable", "off"],
    ["mcp", "list"],
    ["mcp", "get", "off"],
    ["mcp", "get", "nobody"],
    ["mcp", "remove", "off"],
    ["mcp", "lst"],
    ["mcp", "import"],
    ["trust", "add"],
    ["trust", "add", "--yes"],
    ["trust", "remove", "/nowhere"],
    ["settings", "validate", "x"],
    ["secret", "list"],
    ["call", "nobody.tool"],
    ["mcp", "list", "--no-workspace", "--settings", "/dev/null"],
  ];
  for (const argv of commands) {
    const { stdout, stderr } = await here.runWith({ env: { PATH: "", FAIRLEAD_SECRET_STORE: "file" } }, ...argv);
    const shown = `${stdout}${stderr}`;
    expect(
      shown.match(/(?<!npx --no -- )fairlead (?:mcp|trust|policy|lock|history|secret|settings|tools|call|help|--)/g),
      shown,
    ).toEqual(null);
  }
});

test.each(named)("fairlead %s is recognised as a command in a sentence", (words) => {
  const text = safe`(options for fairlead) fairlead ${toSafeLine(words)} --x`;
  expect(withCommandWord(text, safe`npx --no -- fairlead`)).toBe(
    `(options for fairlead) npx --no -- fairlead ${words} --x`,
  );
});

test("words of a server that are read before a decision are not changed", async () => {
  const args = ["-c", "fairlead mcp add x y"];
  await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "sh", args } } } });
  expect((await here.runWith({ env: { PATH: "" } }, "trust", "add")).stderr).toMatch(/2: fairlead mcp add x y\n/);
  const { stderr } = await here.runWith({ env: { PATH: "" } }, "mcp", "remove", "a");
  expect(stderr).toMatch(/^undo: npx --no -- fairlead mcp add .*"fairlead mcp add x y"/m);
});

test("global options may stand before or after the command", async () => {
  await using here = await machine({ "other/.gemini/settings.json": {}, [userFile]: {} });
  const before = await here.run("-C", "../other", "--json", "settings", "path");
  const after = await here.run("settings", "path", "--json", "-C", "../other");
  expect(before).toEqual(after);
  expect(JSON.parse(before.stdout)).toMatchObject({ root: `${here.path}/other`, rootFrom: "option" });
});

test("bare --debug does not swallow the word after it", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: { command: "x" } } } });
  expect(await here.run("--debug", "mcp", "get", "a")).toMatchObject({ code: 0 });
  expect(await here.run("mcp", "get", "--debug", "a")).toMatchObject({ code: 0 });
});

test("a name that starts with a dash goes after --", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { "-x": { command: "x" } } } });
  expect((await here.run("mcp", "get", "--", "-x")).stdout).toMatch(/^-x\n/);
});

test("--quiet leaves data and errors", async () => {
  await using here = await machine();
  expect(await here.run("mcp", "list", "-q")).toEqual({ code: 0, stdout: "No servers are configured.\n", stderr: "" });
  expect((await here.run("mcp", "get", "x", "-q")).stderr).toMatch(/no server "x"/);
});

test("the demo server is switched off and on like any other", async () => {
  await using here = await machine();
  expect(await here.run("mcp", "disable", "demo")).toMatchObject({ code: 0 });
  expect(await here.run("call", "demo.greet", "name=x")).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("fairlead.servers.demo.enabled is false"),
  });
  expect(await here.run("mcp", "enable", "demo")).toMatchObject({ code: 0 });
  expect(await here.run("call", "demo.greet", "name=x")).toMatchObject({ code: 0 });
});

test.each([["secret set S"], ["call demo.greet -"]])(
  "`%s` that waits for its input can be called off",
  async (words) => {
    await using here = await machine();
    const interrupt = new AbortController();
    const ending = main(words.split(" "), {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      env: here.env,
      cwd: here.project,
      home: here.home,
      platform: process.platform,
      signal: interrupt.signal,
    });
    interrupt.abort();
    expect(await ending).toBe(130);
  },
);
