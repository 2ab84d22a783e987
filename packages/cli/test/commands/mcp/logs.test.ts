import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../../support/machine.ts";
import { openTerminal } from "../../support/terminal.ts";

const log = "home/.fairlead/logs/a.log";
const lines = [
  "2026-01-01T00:00:00.000Z stderr Old\n",
  "2026-01-02T00:00:00.000Z note an error of ours\n",
  "2026-01-03T00:00:00.000Z wire sent {}\n",
];

function withLog(): Promise<Machine> {
  return machine({
    [userFile]: { mcpServers: { a: stdioServer("well-behaved"), b: stdioServer("well-behaved") } },
    [`${log}.2`]: lines[0] ?? "",
    [`${log}.1`]: lines[1] ?? "",
    [log]: lines[2] ?? "",
  });
}

test.each([
  [[], [0, 1, 2]],
  [
    ["--since", "2026-01-02"],
    [1, 2],
  ],
  [["--since", "2026-01-02T12:00:00Z"], [2]],
  [["--since", "10m"], []],
  [["--grep", "ERROR"], []],
  [
    ["--grep", "error|old"],
    [0, 1],
  ],
  [["--grep", "Old"], [0]],
  [["--since", "2026-01-02", "--grep", "wire"], [2]],
] as const)("mcp logs a %j", async (options, wanted) => {
  await using here = await withLog();
  const { code, stdout } = await here.run("mcp", "logs", "a", ...options);
  expect({ code, stdout }).toEqual({ code: 0, stdout: wanted.map((at) => lines[at]).join("") });
});

test("the JSON document, and the path alone", async () => {
  await using here = await withLog();
  const path = join(here.path, log);
  expect(JSON.parse((await here.run("mcp", "logs", "a", "--json", "--grep", "wire")).stdout)).toEqual({
    schemaVersion: 1,
    name: "a",
    path,
    lines: [{ time: "2026-01-03T00:00:00.000Z", kind: "wire", text: "sent {}" }],
  });
  expect(await here.run("mcp", "logs", "a", "--path")).toEqual({ code: 0, stdout: `${path}\n`, stderr: "" });
});

test.each([
  [["b"], 0, /"b" has no log yet: .*b\.log/],
  [["nobody"], 2, /no server "nobody" is configured/],
  [["a", "--since", "yesterday"], 2, /--since "yesterday" is not a time or a duration/],
  [["a", "--grep", "("], 2, /--grep: /],
  [["a", "-f", "--json"], 2, /--json and -f cannot be combined: .* -f never ends/],
])("mcp logs %j", async (argv, code, message) => {
  await using here = await withLog();
  const ending = await here.run("mcp", "logs", ...argv);
  expect({ code: ending.code, stderr: ending.stderr }).toEqual({ code, stderr: expect.stringMatching(message) });
});

test("the log of a server that was removed can still be read", async () => {
  await using here = await withLog();
  await here.write(userFile, {});
  expect((await here.run("mcp", "logs", "a")).stdout).toBe(lines.join(""));
});

test("-f goes on with what comes, also when the log is rotated, until Ctrl-C", async () => {
  await using here = await withLog();
  await using terminal = openTerminal(here, "mcp", "logs", "a", "-f", "--grep", "sent|new");
  await terminal.until(/sent \{\}/);
  await rename(join(here.path, log), join(here.path, `${log}.1`));
  await here.write(log, "2026-01-04T00:00:00.000Z stderr new one\n2026-01-04T00:00:00.000Z stderr other\n");
  await terminal.until(/new one/);
  terminal.type("\u0003");
  expect(await terminal.exitCode).toBe(130);
  expect(terminal.screen()).not.toContain("other");
});

test("what a server writes is kept, messages only with --debug, secrets never", async () => {
  const noisy = { ...stdioServer("well-behaved"), env: { API_KEY: "canary-4711" } };
  const script = "console.error('my key is ' + process.env.API_KEY); process.exit(1)";
  await using here = await machine({
    [userFile]: {
      mcpServers: { a: noisy, b: noisy, c: { command: process.execPath, args: ["-e", script], env: noisy.env } },
    },
  });
  await here.run("mcp", "list", "--debug=b");
  const kinds = async (name: string): Promise<unknown> => {
    const { stdout } = await here.run("mcp", "logs", name, "--json");
    expect(stdout).not.toContain("canary-4711");
    const { lines: found } = JSON.parse(stdout) as { lines: { kind: string }[] };
    return [...new Set(found.map(({ kind }) => kind))].sort();
  };
  expect([await kinds("a"), await kinds("b"), await kinds("c")]).toEqual([
    ["note"],
    ["note", "wire"],
    ["note", "stderr"],
  ]);
  expect((await stat(join(here.home, ".fairlead/logs/c.log"))).mode & 0o777).toBe(0o600);
});
