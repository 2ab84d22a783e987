import { expect, test } from "vitest";
import { type Ending, type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const file = "/home/.gemini/settings.json";
const workspace = "workspace /project (not trusted: no rule covers it)\n";

async function listed(here: Machine, ...words: readonly string[]): Promise<Ending> {
  const { code, stdout, stderr } = await here.run("mcp", "list", ...words);
  return { code, stdout: stdout.replaceAll(here.path, ""), stderr: stderr.replaceAll(here.path, "") };
}

const odd = `odd  cannot start: server "odd": "odd" must be an object, not a number (${file}:3)
`;

test("the user sees one line a server, and a second one with the next step, though none may start", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: { odd: 7, off: { command: "x" } },
      fairlead: { servers: { off: { enabled: false } } },
    },
    [projectFile]: { mcpServers: { theirs: { command: "y" } } },
  });
  const all = `${odd}off  disabled
theirs  blocked: folder not trusted
  next: fairlead trust add
`;
  const verbose = `odd  cannot start: invalid settings
  unknown: ?
  from ${file}:3:5 (user)
  why: server "odd": "odd" must be an object, not a number (${file}:3)
off  disabled
  stdio: x
  from ${file}:4:5 (user)
  not sandboxed
  why: "off" is disabled: fairlead.servers.off.enabled is false in ${file}:11
  next: fairlead mcp enable off
theirs  blocked: folder not trusted
  stdio: y
  from /project/.gemini/settings.json:3:5 (workspace)
  not sandboxed
  why: "theirs" (/project/.gemini/settings.json:3) belongs to /project, a folder that is not trusted: no rule covers it
  next: fairlead trust add
`;
  const worst = "fairlead: 3 of 3 servers cannot be used\n  next: fairlead mcp list\n";
  expect(await listed(here)).toEqual({ code: 0, stdout: all, stderr: workspace });
  expect(await listed(here, "-v")).toEqual({ code: 0, stdout: verbose, stderr: workspace });
  expect(await listed(here, "--verbose")).toEqual({ code: 0, stdout: verbose, stderr: workspace });
  expect(await listed(here, "--strict")).toEqual({ code: 6, stdout: all, stderr: `${workspace}${worst}` });
  const { code, stdout, stderr } = await listed(here, "--strict", "--json");
  expect([code, stderr]).toEqual([6, worst]);
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    discoveryState: "completed",
    servers: [{ name: "odd" }, { name: "off" }, { name: "theirs" }],
    problems: [{ serverName: "odd" }],
  });
});

test("--strict exits with the code of the worst server, and ignores servers that the user disabled", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { odd: 7 } } });
  expect(await listed(here, "--strict")).toEqual({
    code: 3,
    stdout: odd,
    stderr: `${workspace}fairlead: 1 of 1 server cannot be used\n  next: fairlead mcp list\n`,
  });
  await here.write(userFile, {
    mcpServers: { off: { command: "x" } },
    fairlead: { servers: { off: { enabled: false } } },
  });
  expect(await listed(here, "--strict")).toMatchObject({ code: 0, stderr: workspace });
});

test("--cached shows each server in the order of the settings, and starts none", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { odd: 7, web: { url: "https://example.com/mcp" }, run: { command: "one" } } },
  });
  expect(await listed(here, "--cached")).toEqual({
    code: 0,
    stdout: `${odd}web  idle
run  idle
`,
    stderr: workspace,
  });
  const counts = { transport: "http", scope: "user", tools: 0, prompts: 0, resources: 0 };
  const document = JSON.parse((await listed(here, "--cached", "--json")).stdout);
  expect([document.discoveryState, document.servers.slice(1)]).toEqual([
    "not_started",
    [
      { ...counts, name: "web", status: "disconnected", reason: "lazy", share: "client" },
      {
        ...counts,
        name: "run",
        status: "disconnected",
        reason: "lazy",
        transport: "stdio",
        sandbox: "off",
        share: "all",
      },
    ],
  ]);
  expect(await listed(here, "--cached", "--strict")).toMatchObject({ code: 2, stdout: "" });
});

test("without servers the user is told what to do next, and which file Fairlead ignores", async () => {
  await using here = await machine({ [userFile]: { mcp: { bad: 1 } }, [projectFile]: {} });
  const next = `add a server: fairlead mcp add -s user NAME COMMAND_OR_URL (examples: fairlead mcp add --help)
copy servers from other programs: fairlead mcp import
try the demo: fairlead tools demo
`;
  const stdout = "No servers are configured.\n";
  const problem = `${file}:3:5: warning: "bad" is not a known key here and is ignored\n`;
  const ignored = "/project/.gemini/settings.json ignored: the folder is not trusted\n  next: fairlead trust add\n";
  expect(await listed(here)).toEqual({ code: 0, stdout, stderr: `${workspace}${problem}${ignored}${next}` });
  expect(await listed(here, "--quiet")).toEqual({ code: 0, stdout, stderr: problem });
  expect((await listed(here, "--trust-workspace")).stderr).toMatch(/^workspace \/project \(trusted: .*\)\n/);
  expect((await listed(here, "--json")).stderr).toBe("");
});

test("a server that is named is shown alone, with all details, and an unknown name is an error", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { odd: 7, web: { command: "x" } } } });
  expect((await listed(here, "odd", "--cached")).stdout).toBe(`odd  cannot start: invalid settings
  unknown: ?
  from ${file}:3:5 (user)
  why: server "odd": "odd" must be an object, not a number (${file}:3)
`);
  const document = JSON.parse((await listed(here, "web", "--cached", "--json")).stdout);
  expect(document.servers.map(({ name }: { name: string }) => name)).toEqual(["web"]);
  expect(await listed(here, "wev")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'fairlead: no server "wev" is configured; did you mean "web"?\n  next: fairlead mcp list\n',
  });
});
