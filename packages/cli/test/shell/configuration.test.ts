import { describe, expect, test } from "vitest";
import { machine, projectFile, userFile } from "../support/machine.ts";

const commands = [
  [],
  ["mcp", "list"],
  ["mcp", "list", "--strict"],
  ["mcp", "get", "a"],
  ["mcp", "add", "b", "x"],
  ["mcp", "remove", "a"],
  ["mcp", "disable", "a"],
  ["mcp", "import"],
  ["tools"],
  ["tools", "demo"],
  ["call", "demo.greet", "name=Ada"],
  ["call", "a.tool"],
  ["trust", "list"],
  ["trust", "add"],
  ["settings", "path"],
];

describe("a file that is left out is named on stderr, once, whatever the command", () => {
  test.each([...commands, ...commands.map((argv) => [...argv.slice(0, 2), "--json", ...argv.slice(2)])])(
    "fairlead %s %s %s %s",
    async (...argv) => {
      await using here = await machine({
        "etc/settings.json": '{\n  "mcpServers": {,\n}',
        [projectFile]: { mcpServers: { a: { command: "x" } } },
      });
      const { stderr } = await here.run(...argv);
      const named = stderr.split("\n").filter((line) => line.includes("etc/settings.json:2:18: error: "));
      expect(named).toHaveLength(1);
    },
  );
});

test("the rules about folders are such a file too", async () => {
  await using here = await machine({ "home/.gemini/trustedFolders.json": "{" });
  for (const argv of [
    ["mcp", "list", "--json"],
    ["trust", "list"],
    ["tools", "demo"],
  ])
    expect((await here.run(...argv)).stderr.match(/trustedFolders\.json:1:\d+: error/g), argv.join(" ")).toHaveLength(
      1,
    );
});

test("validate has it among its answers, and not on stderr too", async () => {
  await using here = await machine({ [userFile]: "{" });
  const { stdout, stderr } = await here.run("settings", "validate");
  expect(stdout).toMatch(/settings\.json:1:\d+: error/);
  expect(stderr).not.toMatch(/settings\.json:1:\d+: error/);
});

test("mcp list --json has every problem in its document", async () => {
  await using here = await machine({ [userFile]: "{" });
  const { problems } = JSON.parse((await here.run("mcp", "list", "--json")).stdout);
  expect(problems).toMatchObject([{ severity: "error", code: "settings_invalid", origin: { line: 1 } }]);
});

test("names that are approved for a run are shown with all their characters", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { "git\u200Bhub": { command: "x" } } } });
  const { stderr } = await here.run("mcp", "list", "--trust-workspace");
  expect(stderr).toContain("approved for this run: git⟨U+200B⟩hub (");
});
