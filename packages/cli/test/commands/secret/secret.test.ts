import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";

test("a value from stdin loses one line break, and nothing prints it", async () => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.runWith({ stdin: "canary 4711\n" }, "secret", "set", "TOKEN");
  expect(code).toBe(0);
  expect(stdout).toBe('stored "TOKEN" in an encrypted file in Fairlead\'s own folder\n');
  expect(stderr).toBe("to use the secret in settings, write ${secret:TOKEN}\nundo: fairlead secret remove TOKEN\n");
  expect((await here.run("secret", "list")).stdout).toBe("TOKEN\n");
});

test("the value is nowhere on disk in clear, nor in any output", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "x", env: { T: "${secret:TOKEN}" } } } },
  });
  await here.runWith({ env: { FROM: "canary 4711" } }, "secret", "set", "TOKEN", "--value-from", "FROM");
  for (const argv of [
    ["secret", "list", "--json"],
    ["mcp", "get", "a"],
    ["mcp", "list", "--json"],
  ]) {
    const { stdout, stderr } = await here.run(...argv);
    expect(stdout + stderr).not.toContain("canary");
  }
  const state = join(here.home, ".fairlead");
  const files = await readdir(state, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.join("\n")).not.toContain("canary");
});

test("a value that is not text is refused, not changed", async () => {
  await using here = await machine();
  const { code, stderr } = await here.runWith({ stdin: Uint8Array.of(0x6b, 0xff, 0xfe) }, "secret", "set", "TOKEN");
  expect(code).toBe(2);
  expect(stderr).toMatch(/not UTF-8 text; nothing was stored/);
  expect((await here.run("secret", "list")).stdout).toBe("");
});

test("documents name the backend", async () => {
  await using here = await machine();
  const set = await here.runWith({ stdin: "x" }, "secret", "set", "B", "--json");
  await here.runWith({ stdin: "x" }, "secret", "set", "A");
  const list = await here.run("secret", "list", "--json");
  const removed = await here.run("secret", "remove", "B", "--json");
  expect([set, list, removed].map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual([
    { schemaVersion: 1, name: "B", backend: "file" },
    { schemaVersion: 1, backend: "file", names: ["A", "B"] },
    { schemaVersion: 1, name: "B", removed: true, backend: "file" },
  ]);
});

test.each([
  ["a value on the command line", ["set", "A", "value"], "", 2, /too many arguments/],
  ["an empty value", ["set", "A"], "\n", 2, /empty/],
  ["a name that cannot be mentioned", ["set", "a b}"], "x", 2, /is not a valid secret name/],
  ["a variable that is not set", ["set", "A", "--value-from", "NOT_SET"], "", 3, /NOT_SET/],
  ["a value without end", ["set", "A"], "x".repeat(70_000), 1, /larger than 65536 bytes/],
  ["removing what is not there", ["remove", "TOKN"], "", 2, /did you mean "TOKEN"\?/],
] as const)("%s is refused and nothing changes", async (_what, argv, stdin, code, message) => {
  await using here = await machine();
  await here.runWith({ stdin: "x" }, "secret", "set", "TOKEN");
  const ending = await here.runWith({ stdin }, "secret", ...argv);
  expect(ending.stderr).toMatch(message);
  expect(ending.code).toBe(code);
  expect((await here.run("secret", "list")).stdout).toBe("TOKEN\n");
});
