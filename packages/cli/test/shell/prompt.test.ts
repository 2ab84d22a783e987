import { join } from "node:path";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const twoServers = {
  mcpServers: { one: { command: "node", args: ["1"] }, two: { command: "node", args: ["2"] } },
  // Whether they run in a sandbox is said, so Fairlead does not ask about it.
  fairlead: { servers: { one: { sandbox: "off" }, two: { sandbox: "off" } } },
};

test("trust add shows everything before it asks, and takes y for yes", async () => {
  await using here = await machine({ [projectFile]: twoServers });
  await using terminal = openTerminal(here, "trust", "add");
  const shown = await terminal.until(/Trust .*\? \[y\/N\]$/m);
  expect(shown).toMatch(/one\n[\s\S]*command +node\n +arguments +1: 1\n[\s\S]*two\n[\s\S]*arguments +1: 2\n/);
  terminal.type("y\r");
  await terminal.until(/Approve one, exactly as shown\? \[y\/N\]$/m);
  terminal.type("n\r");
  await terminal.until(/Approve two, exactly as shown\? \[y\/N\]$/m);
  terminal.type("yes\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/approved: two\nnot approved: one/);
  const { servers } = JSON.parse((await here.run("mcp", "list", "--json")).stdout);
  expect(servers).toMatchObject([
    { name: "one", reason: "awaiting_approval" },
    { name: "two", reason: "server_exited" },
  ]);
});

test("a second run asks only about what is pending", async () => {
  await using here = await machine({ [projectFile]: twoServers });
  await here.run("trust", "add", "--yes");
  await here.write(projectFile, {
    ...twoServers,
    mcpServers: { ...twoServers.mcpServers, two: { command: "node", args: ["changed"] } },
  });
  await using terminal = openTerminal(here, "trust", "add");
  const shown = await terminal.until(/\[y\/N\]$/m);
  expect(shown).toMatch(/already approved: one\n[\s\S]*two \(has changed since you approved it\)[\s\S]*Approve two/);
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(0);
  for (const name of ["one", "two"])
    expect(JSON.parse((await here.run("mcp", "get", name, "--json")).stdout)).toMatchObject({ name, reason: "lazy" });
});

test.each([
  ["Enter", "\r", 6],
  ["anything but yes", "yep\r", 6],
  ["the end of input", "\u0004", 6],
  ["Ctrl-C", "\u0003", 130],
])("%s at the folder's question trusts nothing and writes nothing", async (_what, keys, code) => {
  await using here = await machine({ [projectFile]: twoServers });
  await using terminal = openTerminal(here, "trust", "add");
  await terminal.until(/\[y\/N\]$/m);
  terminal.type(keys);
  expect(await terminal.exitCode).toBe(code);
  expect((await here.run("trust", "list", "--json")).stdout).toMatch(/"folders": \[\],\s+"approvals": \[\]/);
});

test("several lines pasted at once answer one question only", async () => {
  await using here = await machine({ [projectFile]: twoServers });
  await using terminal = openTerminal(here, "trust", "add");
  await terminal.until(/Trust .*\[y\/N\]$/m);
  terminal.type("y\ry\ry\r");
  await terminal.until(/Approve one.*\[y\/N\]$/m);
  terminal.type("\r");
  await terminal.until(/Approve two.*\[y\/N\]$/m);
  terminal.type("\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/not approved: one, two/);
});

test("an existing name asks before it is replaced", async () => {
  const before = { mcpServers: { a: { command: "old" } } };
  await using here = await machine({ [projectFile]: before });
  await using no = openTerminal(here, "mcp", "add", "--sandbox", "default", "a", "new");
  await no.until(/Replace\? \[y\/N\]$/m);
  no.type("\r");
  expect(await no.exitCode).toBe(6);
  expect(JSON.parse(await here.read(projectFile))).toEqual(before);
  await using yes = openTerminal(here, "mcp", "add", "--sandbox", "default", "a", "new");
  await yes.until(/Replace\? \[y\/N\]$/m);
  yes.type("y\r");
  await yes.until(/Trust .*\? \[y\/N\]$/m);
  yes.type("\r");
  expect(await yes.exitCode).toBe(0);
  expect(JSON.parse(await here.read(projectFile))).toEqual({ mcpServers: { a: { command: "new" } } });
});

test("at a terminal, the undo line of a replaced entry holds its secrets: it must work", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "x", env: { TOKEN: "canary-4711" } } } },
  });
  await using terminal = openTerminal(here, "mcp", "remove", "a");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/undo: fairlead mcp add .*canary-4711/);
});

test("secret set shows nothing of the value, and stores all of it", async () => {
  await using here = await machine({ "spy.sh": 'printf %s "$SECRET" > "$1"' });
  const [spy, seen] = [join(here.path, "spy.sh"), join(here.path, "seen")];
  await here.write(userFile, {
    mcpServers: { spy: { command: "sh", args: [spy, seen], env: { SECRET: "${secret:TOKEN}" } } },
  });
  await using terminal = openTerminal(here, "secret", "set", "TOKEN");
  await terminal.until(/value of TOKEN \(not shown\):$/m);
  terminal.type("canary é 4711\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).not.toMatch(/canary|4711|\*/);
  expect(terminal.screen()).toMatch(/stored "TOKEN" in/);
  expect((await here.run("secret", "list")).stdout).toBe("TOKEN\n");
  // A server is given exactly what was typed.
  await here.run("mcp", "list");
  expect(await here.read("seen")).toBe("canary é 4711");
});

test("Ctrl-C at the hidden question stores nothing", async () => {
  await using here = await machine();
  await using terminal = openTerminal(here, "secret", "set", "TOKEN");
  await terminal.until(/not shown/);
  terminal.type("half\u0003");
  expect(await terminal.exitCode).toBe(130);
  expect((await here.run("secret", "list", "--json")).stdout).toMatch(/"names": \[\]/);
});
