import { splitShellLine } from "@fairlead/core/settings/shell-line";
import { describe, expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";
import { openTerminal, openTerminalShell } from "../../support/terminal.ts";

/** The commands of the undo line as a shell would hand them to the command. */
function undoOf(stderr: string): readonly (readonly string[])[] {
  const line = /^undo: (.*)$/m.exec(stderr)?.[1] ?? "";
  return line.split(" && ").map((command) => {
    const split = splitShellLine(command.replace(/^fairlead /, ""));
    // What was quoted has its dollar signs doubled in the language of settings; a shell leaves them.
    return split.kind === "words" ? split.words.map((word) => word.replaceAll("$$", "$")) : [];
  });
}

test.each([
  ["adding", ["mcp", "add", "b c", "node", "x"], projectFile],
  ["adding for the user", ["mcp", "add", "-s", "user", "name", "https://example.com"], userFile],
  ["replacing", ["mcp", "add", "--replace", "a", "node"], projectFile],
  ["removing", ["mcp", "remove", "a"], projectFile],
  ["disabling", ["mcp", "disable", "a"], userFile],
  ["removing one that is switched off", ["mcp", "remove", "off"], userFile],
] as const)("the undo line of %s puts everything back", async (what, argv, file) => {
  const entry = { command: "it's", args: ["$HOME", "a b", '"'], env: { A: "${B}" } };
  await using here = await machine({
    [projectFile]: { mcpServers: { a: entry } },
    [userFile]: {
      mcpServers: { off: { command: "x" } },
      fairlead: { servers: { off: { enabled: false } } },
    },
  });
  const before: unknown = JSON.parse(await here.read(file));
  const { code, stderr } = await here.run(...argv);
  expect(code).toBe(0);
  expect(JSON.parse(await here.read(file)), what).not.toEqual(before);
  for (const undo of undoOf(stderr)) expect(await here.run(...undo)).toMatchObject({ code: 0 });
  expect(JSON.parse(await here.read(file))).toEqual(before);
});

describe("where a log may be kept, no undo line has values that mcp get hides", () => {
  test.each([
    ["an argument", { command: "x", args: ["--token", "canary-4711"] }],
    ["a variable", { command: "x", env: { PGPASS: "canary-4711" } }],
    ["an address in a variable", { command: "x", env: { DATABASE_URL: "postgres://me:canary-4711@db" } }],
    ["a header", { url: "https://example.com", headers: { "X-Custom": "canary-4711" } }],
    ["an unknown key", { command: "x", apiKey: "canary-4711" }],
  ])("%s", async (_what, entry) => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: entry } } });
    const replaced = await here.run("mcp", "add", "--replace", "a", "y");
    await here.write(projectFile, { mcpServers: { a: entry } });
    const { stdout, stderr } = await here.run("mcp", "remove", "a");
    expect(stdout).toMatch(/removed "a"/);
    expect(stderr).toMatch(/cannot be undone: .*may be secrets/);
    expect(stdout + stderr + replaced.stdout + replaced.stderr).not.toContain("canary-4711");
  });

  test("with --json it is stdout that may be the log", async () => {
    const files = { [projectFile]: { mcpServers: { a: { command: "x", env: { A: "canary-4711" } } } } };
    await using here = await machine(files);
    await using terminal = openTerminal(here, "mcp", "remove", "a");
    await terminal.exitCode;
    expect(terminal.screen()).toContain("canary-4711");
    await here.write(projectFile, files[projectFile]);
    // stderr and stdin stay a terminal.
    const piped = openTerminalShell(here, `mcp remove a --json > ${here.path}/log`);
    await piped.exitCode;
    expect(JSON.parse(await here.read("log"))).toMatchObject({ name: "a", removed: true });
    expect(await here.read("log")).not.toContain("canary-4711");
  });
});

describe("an undo line that would not undo is not shown", () => {
  test.each([
    ["no entry", 7, /cannot be undone: the previous value was not an object/],
    ["an entry that is refused", { command: "x", url: "https://example.com" }, /cannot be undone: .*would refuse/],
  ])("%s", async (_what, entry, message) => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: entry } } });
    const { code, stderr } = await here.run("mcp", "remove", "a");
    expect(code).toBe(0);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^undo:/m);
  });

  test("a name that cannot be typed", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { "a\u0007": { command: "x" } } } });
    const { stderr } = await here.run("mcp", "remove", "a\u0007");
    expect(stderr).toMatch(/cannot be undone: .*its name has invisible characters/);
  });

  test("enabling what is enabled", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { a: { command: "x" } } } });
    expect(await here.run("mcp", "enable", "a")).toMatchObject({ code: 0, stderr: "" });
  });

  test("a stored secret that was replaced", async () => {
    await using here = await machine();
    const set = () => here.runWith({ stdin: "v", env: { FAIRLEAD_SECRET_STORE: "file" } }, "secret", "set", "S");
    expect((await set()).stderr).toMatch(/^undo: fairlead secret remove S$/m);
    expect((await set()).stderr).toMatch(/^cannot be undone: the previous value was overwritten$/m);
  });

  test("a rule about a folder that was replaced", async () => {
    await using here = await machine({ [projectFile]: {} });
    await here.write("home/.gemini/trustedFolders.json", { [here.project]: "DO_NOT_TRUST" });
    const { stderr } = await here.run("trust", "add", "--parent", "--yes");
    expect(stderr).toMatch(/previous state cannot be restored: .*the previous rule was DO_NOT_TRUST/);
  });
});

test("putting back a project's entry that was not approved does not approve it", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "x" } } } });
  const [undo = []] = undoOf((await here.run("mcp", "remove", "a")).stderr);
  expect(undo).toContain("--no-approve");
  await here.run(...undo);
  expect(JSON.parse((await here.run("trust", "list", "--json")).stdout)).toMatchObject({ approvals: [] });
  await here.run("trust", "add", "--yes");
  const [again = []] = undoOf((await here.run("mcp", "remove", "a")).stderr);
  await here.run(...again);
  expect((await here.run("mcp", "get", "a")).stdout).toMatch(/ready to start/);
});

test("the undo line names the files that were named, and keeps characters that cannot be seen", async () => {
  const before = { mcpServers: { a: { command: "x", args: ["a\u200Bb", "\u001b[2J"] } } };
  await using here = await machine({ "my settings.json": before });
  const { stderr } = await here.run("mcp", "remove", "--settings", "../my settings.json", "a");
  const [undo = []] = undoOf(stderr);
  expect(undo).toContain("--settings");
  expect(await here.run(...undo)).toMatchObject({ code: 0 });
  expect(JSON.parse(await here.read("my settings.json"))).toEqual(before);
});
