import { splitShellLine } from "@fairlead/core/settings/shell-line";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../machine.ts";

/** The undo line as a shell would hand it to the command. */
function undoOf(stderr: string): readonly string[] {
  const line = /^undo: fairlead (.*)$/m.exec(stderr)?.[1] ?? "";
  const split = splitShellLine(line);
  // What was quoted has its dollar signs doubled in the language of settings; a shell leaves them.
  return split.kind === "words" ? split.words.map((word) => word.replaceAll("$$", "$")) : [];
}

test.each([
  ["adding", ["mcp", "add", "b c", "node", "x"], projectFile],
  ["adding for the user", ["mcp", "add", "-s", "user", "name", "https://example.com"], userFile],
  ["replacing", ["mcp", "add", "--replace", "a", "node"], projectFile],
  ["removing", ["mcp", "remove", "a"], projectFile],
  ["disabling", ["mcp", "disable", "a"], userFile],
] as const)("the undo line of %s puts everything back", async (what, argv, file) => {
  const entry = { command: "it's", args: ["$HOME", "a b", '"'], env: { A: "${B:-c}" } };
  await using here = await machine({ [projectFile]: { mcpServers: { a: entry } }, [userFile]: { mcpServers: {} } });
  const before: unknown = JSON.parse(await here.read(file));
  const { code, stderr } = await here.run(...argv);
  expect(code).toBe(0);
  expect(JSON.parse(await here.read(file)), what).not.toEqual(before);
  const undo = undoOf(stderr);
  expect(await here.run(...undo)).toMatchObject({ code: 0 });
  expect(JSON.parse(await here.read(file))).toEqual(before);
});

test("an entry with a secret written out gets no undo line where a log may be kept", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { a: { command: "x", args: ["--token", "canary-4711"] } } },
  });
  const { stdout, stderr } = await here.run("mcp", "remove", "a");
  expect(stdout).toMatch(/removed "a"/);
  expect(stderr).toMatch(/no undo line/);
  expect(stdout + stderr).not.toContain("canary-4711");
});

test("the undo line names the files that were named, and keeps characters that cannot be seen", async () => {
  const before = { mcpServers: { a: { command: "x", args: ["a\u200Bb", "\u001b[2J"] } } };
  await using here = await machine({ "my settings.json": before });
  const { stderr } = await here.run("mcp", "remove", "--settings", "../my settings.json", "a");
  expect(undoOf(stderr)).toContain("--settings");
  expect(await here.run(...undoOf(stderr))).toMatchObject({ code: 0 });
  expect(JSON.parse(await here.read("my settings.json"))).toEqual(before);
});
