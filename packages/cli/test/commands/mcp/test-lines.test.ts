import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const settings = "/home/.gemini/settings.json";
const problem = '"gone" did not start: cannot start "no-such-program": the command is not in the server\'s PATH';
const next = `Install the command, or correct it (${settings}:3).`;
const passed = ["HOME", "PATH"];
const withheld = ["FAIRLEAD_SYSTEM_POLICIES_PATH", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"];

test("the user sees the steps before the one that failed, and the error alone if the server may not start", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { gone: { command: "no-such-program", args: ["a"], env: { A: "b" } }, odd: 7 } },
    [projectFile]: { mcpServers: { theirs: { command: "x" } } },
  });
  const run = async (...words: readonly string[]): Promise<readonly [number, string, string]> => {
    const { code, stdout, stderr } = await here.run("mcp", "test", ...words);
    // A step that took less than a millisecond has no duration.
    const shown = stdout.replaceAll(here.path, "").replaceAll(/ {2}\(\d+ ms\)/g, "");
    return [code, shown, stderr.replaceAll(here.path, "")];
  };
  expect(await run("gone")).toEqual([
    4,
    `gone
  definition   ${settings}:3:5 (user)
               stdio: no-such-program a
               waits at most 30000 ms (fairlead.connectTimeout)
  roots        not sent (fairlead.servers.gone.roots is false)
  sandbox      not sandboxed
  program      not found
               in /home
  environment  variables passed on: ${passed.join(", ")}
               variables set by the entry: A
               variables withheld: ${withheld.join(", ")}
`,
    `fairlead: ${problem}\n  next: ${next}\n`,
  ]);
  const [code, stdout, stderr] = await run("gone", "--json");
  expect([code, stderr]).toEqual([4, `fairlead: ${problem}\n  next: ${next}\n`]);
  const durationMs = expect.any(Number);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    ok: false,
    name: "gone",
    status: "disconnected",
    reason: "command_not_found",
    transport: "stdio",
    scope: "user",
    sandbox: "off",
    tools: 0,
    prompts: 0,
    resources: 0,
    error: { code: "command_not_found", message: problem, next },
    roots: [],
    steps: [
      {
        step: "definition",
        transport: "stdio",
        command: "no-such-program",
        args: ["a"],
        patience: { milliseconds: 30_000, setting: "fairlead.connectTimeout" },
        durationMs,
      },
      { step: "program", cwd: "/home", droppedPath: [], durationMs },
      { step: "environment", passed, set: ["A"], withheld, durationMs },
    ],
    dropped: [],
    repaired: [],
    truncated: [],
    stderr: [],
  });
  expect(await run("odd")).toEqual([
    3,
    "odd\n",
    `fairlead: server "odd": "odd" must be an object, not a number (${settings}:12)\n`,
  ]);
  expect(await run("theirs")).toEqual([
    6,
    "theirs\n",
    `fairlead: "theirs" (/project/.gemini/settings.json:3) belongs to /project, a folder that is not trusted: no rule covers it
  next: fairlead trust add
`,
  ]);
});
