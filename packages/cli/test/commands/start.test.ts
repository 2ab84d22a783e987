import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { machine, projectFile, userFile } from "../support/machine.ts";

/** A PATH without the command on it. */
const env = { PATH: "" };

test("with nothing configured: what was looked for, the demo server, and what to type", async () => {
  await using here = await machine();
  const { stdout, ...rest } = await here.runWith({ env });
  expect(rest).toEqual({ code: 0, stderr: "" });
  expect(stdout.replaceAll(/ +/g, " ").replaceAll(here.project, "/PROJECT")).toBe(
    `Fairlead connects a model to MCP servers and checks every call between them.

Found here (no server was started)
 user settings ~/.gemini/settings.json not found
 workspace /PROJECT not trusted: no rule covers it
 workspace settings .gemini/settings.json not found
 servers none configured

Built-in demo server
 demo: greet, picture, statistics, count, wait, fail

Next
 npx --no -- fairlead tools demo list the demo server's tools
 npx --no -- fairlead call demo.greet name=Ada call a tool of the demo server
 npx --no -- fairlead mcp import copy other programs' servers
 npx --no -- fairlead --help everything else
`,
  );
});

test("every command that it says to type works", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "a", comand: "b" } } },
    [projectFile]: { mcpServers: { b: { command: "b" } } },
  });
  const { next } = JSON.parse((await here.runWith({ env }, "--json")).stdout) as { next: { command: string }[] };
  const commands = next.map(({ command }) => command.replace("npx --no -- fairlead ", ""));
  expect(commands).toEqual([
    "tools demo",
    "call demo.greet name=Ada",
    "trust add",
    "settings validate",
    "mcp list",
    "mcp import",
    "--help",
  ]);
  for (const command of commands) {
    // Approving asks the user, and there is no terminal to ask on.
    const expected = command === "trust add" ? 6 : 0;
    const { code, stderr } = await here.run(...command.split(" "));
    expect({ command, code, stderr: code === expected ? "" : stderr }).toEqual({ command, code: expected, stderr: "" });
  }
});

test("the suggested server is one whose program is installed, for all folders, and it can be added as written", async () => {
  await using here = await machine();
  await here.write("bin/uvx", "#!/bin/sh\n");
  await chmod(join(here.path, "bin/uvx"), 0o755);
  const path = { PATH: join(here.path, "bin") };
  const { next } = JSON.parse((await here.runWith({ env: path }, "--json")).stdout) as { next: { command: string }[] };
  const [words] = next.flatMap(({ command }) => /^npx --no -- fairlead (mcp add .*)$/.exec(command)?.[1] ?? []);
  expect(words).toBe("mcp add -s user time uvx mcp-server-time");
  const { code, stdout } = await here.runWith({ env: path }, ...(words ?? "").split(" "));
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("home/.gemini/settings.json (user)") });
});

describe("with servers configured", () => {
  const files = {
    [userFile]:
      '{\n  "mcpServers": {\n    "github": { "httpUrl": "https://mcp.example.com" },\n    "broken": { "command": 7 }\n  }\n}',
    [projectFile]: '{\n  "mcpServers": {\n    "local": { "command": "touch", "args": ["started"] }\n  }\n}',
  };

  test("each is shown with its file and whether it may start; problems are named", async () => {
    await using here = await machine(files);
    const { code, stdout } = await here.runWith({ env });
    const shown = stdout.replaceAll(/ +/g, " ").replaceAll(here.project, "/PROJECT");
    expect(code).toBe(0);
    expect(shown).toContain(" user settings ~/.gemini/settings.json read\n");
    expect(shown).toContain(" workspace settings .gemini/settings.json ignored: the workspace is not trusted\n");
    expect(shown).toContain(`
Servers
 github http ready to start ~/.gemini/settings.json:3
 broken unknown cannot start: invalid settings ~/.gemini/settings.json:4
 local stdio blocked: folder not trusted /PROJECT/.gemini/settings.json:3
`);
    expect(shown).toMatch(/\nProblems\n.*home\/\.gemini\/settings\.json:4:\d+: error: .*command.*\n/);
    expect(shown).toContain(" npx --no -- fairlead trust add review and approve this folder's servers\n");
    expect(shown).not.toContain("none configured");
  });

  test("a name can do no harm to the terminal", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { "a\u001b[2J\u202e": { command: "a" } } } });
    const { stdout } = await here.runWith({ env });
    expect(stdout).toMatch(/ {2}a␛\[2J +stdio +/);
    expect(["\u001b", "\u202e"].filter((harm) => stdout.includes(harm))).toEqual([]);
  });

  test("a file that is broken is said to be left out", async () => {
    await using here = await machine({ [userFile]: "{ nonsense" });
    const { code, stdout } = await here.runWith({ env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/user settings +~\/\.gemini\/settings\.json +broken, ignored\n/);
    expect(stdout).toContain("npx --no -- fairlead settings validate");
  });

  test("long lists are cut and say how to see the rest", async () => {
    const entries = Array.from({ length: 13 }, (_, at) => [`s${at}`, { command: 7 }] as const);
    await using here = await machine({ [userFile]: { mcpServers: Object.fromEntries(entries) } });
    const { stdout } = await here.runWith({ env });
    expect(stdout).toContain("  and 3 more: npx --no -- fairlead mcp list\n");
    expect(stdout).toContain("\nand 8 more: npx --no -- fairlead settings validate\n");
  });

  test("an entry named demo takes the demo server's place", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { demo: { command: "mine" } } } });
    const { stdout } = await here.runWith({ env });
    expect(stdout).not.toContain("Built in");
    expect(stdout).not.toContain("tools demo");
  });

  test("a trusted folder is said to be trusted, and by what", async () => {
    await using here = await machine(files);
    const { stdout, stderr } = await here.runWith({ env }, "--trust-workspace");
    expect(stdout).toMatch(/workspace {2,}\S+ +trusted: --trust-workspace\n/);
    expect(stdout).toMatch(/local +stdio +ready to start/);
    expect(stdout).not.toContain("trust add");
    expect(stderr).toBe("approved for this run: local (--trust-workspace)\n");
  });
});

test("--json has the same facts", async () => {
  await using here = await machine({ [userFile]: '{"mcpServers": {\n"a": {"command": "a"}}}' });
  const { code, stdout } = await here.runWith({ env }, "--json");
  const document = JSON.parse(stdout) as { files: { scope: string }[] };
  const files = document.files.filter(({ scope }) => scope === "user" || scope === "workspace");
  const user = join(here.home, ".gemini/settings.json");
  expect({ code, ...document, files }).toEqual({
    code: 0,
    schemaVersion: 1,
    workspace: { root: here.project, rootFrom: "gemini-folder", trusted: false, because: "no rule covers it" },
    files: [
      { scope: "user", file: user, state: "read" },
      { scope: "workspace", file: join(here.project, ".gemini/settings.json"), state: "absent" },
    ],
    servers: [
      { name: "a", status: "disconnected", reason: "lazy", transport: "stdio", scope: "user", file: user, line: 2 },
    ],
    demo: { tools: ["greet", "picture", "statistics", "count", "wait", "fail"] },
    problems: [],
    next: [
      { command: "npx --no -- fairlead tools demo", purpose: "list the demo server's tools" },
      { command: "npx --no -- fairlead call demo.greet name=Ada", purpose: "call a tool of the demo server" },
      { command: "npx --no -- fairlead mcp list", purpose: "show your servers" },
      { command: "npx --no -- fairlead mcp import", purpose: "copy other programs' servers" },
      { command: "npx --no -- fairlead --help", purpose: "everything else" },
    ],
  });
});

describe("commands are shown as they can be typed", () => {
  test("fairlead, when it is on the PATH and can be run", async () => {
    await using here = await machine();
    const program = await here.write("bin/fairlead", "#!/bin/sh\n");
    const path = { PATH: join(here.path, "bin") };
    expect((await here.runWith({ env: path })).stdout).toContain("  npx --no -- fairlead tools demo ");
    await chmod(program, 0o755);
    expect((await here.runWith({ env: path })).stdout).toContain("  fairlead tools demo ");
    // npm's own PATH ends with npm.
    expect((await here.runWith({ env: { ...path, npm_lifecycle_event: "start" } })).stdout).toContain(
      "  npx --no -- fairlead tools demo ",
    );
  });
});

test("80 × 24 hold all of it, in colours unless NO_COLOR is set", async () => {
  await using here = await machine();
  const plain = await here.runWith({ env: { ...env, NO_COLOR: "1", FORCE_COLOR: "1" } });
  const coloured = await here.runWith({ env: { ...env, FORCE_COLOR: "1" } });
  expect(plain.stdout).not.toContain("\u001b");
  expect(coloured.stdout).toContain("\u001b[1mFairlead\u001b[22m connects");
  // The folder of a test has a longer name than most folders, and the column of paths is as wide as the longest.
  const rows = plain.stdout
    .replaceAll(here.path, "/home/ada/project")
    .replaceAll(/ {2,}not /g, "  not ")
    .trimEnd()
    .split("\n")
    .map((line) => Math.max(1, Math.ceil(line.length / 80)));
  // npm start puts four lines before it, and the prompt comes after.
  expect(rows.reduce((sum, row) => sum + row, 4 + 1)).toBeLessThanOrEqual(24);
});

test.each([
  ["--debug", true],
  ["--debug=good", true],
  ["--debug=other", false],
])('without a terminal, fairlead %s "…" writes wire messages to the log of "good": %s', async (option, isWritten) => {
  await using here = await machine();
  await here.write(userFile, { mcpServers: { good: stdioServer("well-behaved") } });
  await here.run(option, "--model", "manual", "good.echo text=hello");
  const { stdout } = await here.run("mcp", "logs", "good");
  expect(stdout).toContain("connected");
  expect(stdout.includes("tools/list")).toBe(isWritten);
});
