import { expect, test } from "vitest";
import { entries, machine, userFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const file = "/home/.gemini/settings.json";

test("the user sees why an added server does not start, and how to test it again", async () => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.run("mcp", "add", "-s", "user", "my server", "no-such-program");
  expect([code, stdout.replaceAll(here.path, ""), stderr.replaceAll(here.path, "")]).toEqual([
    0,
    `added "my server" in ${file} (user)\n  command  no-such-program\n  sandbox  not sandboxed\n`,
    `undo: fairlead mcp remove -s user 'my server'
warning: "my server" was added, but Fairlead cannot connect to it: "my server" did not start: cannot start "no-such-program": the command is not in the server's PATH
  next: Install the command, or correct it (${file}:3).
to test again: fairlead mcp test 'my server'
`,
  ]);
  const json = await here.run("mcp", "add", "--json", "-s", "user", "other", "no-such-program");
  const { servers } = JSON.parse(json.stdout) as { servers: { test: object }[] };
  expect(servers.map((server) => server.test)).toEqual([
    expect.objectContaining({ name: "other", status: "disconnected", reason: "command_not_found" }),
  ]);
});

test("the user sees the problems of a new entry, and why a replaced entry cannot be restored", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: 7 } } });
  const words = ["mcp", "add", "--no-test", "--replace", "-s", "user", "a", '{"command": "x", "typo": 1}'];
  const { stdout, stderr } = await here.run(...words);
  expect(stdout.replaceAll(here.path, "")).toBe(
    `replaced "a" in ${file} (user)\n  command  x\n  sandbox  not sandboxed\n`,
  );
  expect(stderr.replaceAll(here.path, "")).toBe(
    `${file}:5:7: warning: server "a": "typo" is not a known key here and is ignored
  next: Did you mean "type"?
cannot be undone: the previous value was not an object
`,
  );
});

test.each([
  ["y", 0, "new"],
  ["", 6, "old"],
] as const)("on a terminal the user decides with %j whether an entry is replaced", async (answer, code, command) => {
  await using here = await machine({ [userFile]: { mcpServers: { a: { command: "old" } } } });
  await using terminal = openTerminalHere(
    here,
    "mcp",
    "add",
    "--sandbox",
    "default",
    "--no-test",
    "-s",
    "user",
    "a",
    "new",
  );
  const question = await terminal.until(/Replace\? \[y\/N\]$/);
  expect(question.replaceAll(here.path, "").trimEnd()).toBe(`Already in ${file}: "a". Replace? [y/N]`);
  terminal.type(`${answer}\r`);
  expect(await terminal.exitCode).toBe(code);
  expect(await entries(here, userFile)).toEqual({ a: { command } });
});
