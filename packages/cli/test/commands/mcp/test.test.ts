import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { behaves, loginPage, programServer, stdioServer, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

test("each step is shown with what came of it; of the environment, names and never values", async () => {
  const { command, args } = programServer("well-behaved", "--token", "canary-4711");
  const config = JSON.stringify({ apiKey: "canary-4711", port: 80 });
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command, args: [...args, config], env: { KEY: "canary-4711" } } } },
  });
  const env = { AWS_SECRET_ACCESS_KEY: "canary-4711", LANG: "C" };
  const { code, stdout, stderr } = await here.runWith({ env }, "mcp", "test", "a");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "next: fairlead tools a\n" });
  const shown = stdout
    .replaceAll(/ {2}\(\d+ ms\)/g, "")
    .replaceAll(here.home, "/HOME")
    .replaceAll(command, "/NODE")
    .replaceAll(args[0] ?? "", "PROGRAM");
  expect(shown).toBe(`a
  definition   /HOME/.gemini/settings.json:3:5 (user)
               stdio: /NODE PROGRAM --token (hidden) {"apiKey":"(hidden)","port":80}
               waits at most 30000 ms (fairlead.connectTimeout)
  roots        not sent (fairlead.servers.a.roots is false)
  sandbox      not sandboxed
  program      /NODE
               in /HOME
  environment  variables passed on: HOME, LANG, PATH
               variables set by the entry: KEY
               variables withheld: AWS_SECRET_ACCESS_KEY, FAIRLEAD_SYSTEM_POLICIES_PATH, GEMINI_CLI_SYSTEM_SETTINGS_PATH
  start        process started
  handshake    test 1.0.0, protocol 2025-11-25 (with a session) over stdio
  list         tools/list: 1
connected: 1 tool
`);
});

test("the JSON document has the steps, what was left out and the end of stderr", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: stdioServer("one-bad-tool") } } });
  const { code, stdout } = await here.run("mcp", "test", "a", "--json");
  const { steps, dropped, repaired, ...document } = JSON.parse(stdout);
  expect({ code, ...document }).toMatchObject({
    code: 0,
    ok: true,
    status: "connected",
    stderr: [],
    truncated: [],
    roots: [],
  });
  expect(steps.map(({ step }: { step: string }) => step)).toEqual([
    "definition",
    "program",
    "environment",
    "start",
    "handshake",
    "list",
  ]);
  expect(steps.every(({ durationMs }: { durationMs: unknown }) => Number.isInteger(durationMs))).toBe(true);
  expect([dropped.length > 0, repaired.length > 0]).toEqual([true, true]);
});

test("a program that ends: how far it came, its last words, what to do, and the code", async () => {
  const script = "console.error('first\\u001b[2J\\nlast'); process.exit(3)";
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: process.execPath, args: ["-e", script] } } },
  });
  const { code, stdout, stderr } = await here.run("mcp", "test", "a");
  expect(code).toBe(4);
  expect(stdout).toMatch(/ {2}start .*\n {2}stderr {7}first.*\n {15}last\n$/);
  expect(stdout).not.toContain("\u001b");
  expect(stderr).toMatch(/^fairlead: "a" exited with code 3 .*\n {2}next: .*\n$/);
  const json = await here.run("mcp", "test", "a", "--json");
  expect({ code: json.code, ...JSON.parse(json.stdout) }).toMatchObject({
    code: 4,
    ok: false,
    status: "disconnected",
    error: { code: "server_exited" },
  });
});

test.each([["--text"], ["--json"]])("what variables stand for is not shown (%s)", async (format) => {
  const env = { MY_API_TOKEN: "canary-4711", PLAINVAR: "canary-4712" };
  const repeats = `
    const said = process.argv.slice(1).join(" ");
    console.error(said);
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const answers = {
        initialize: { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: said, version: "1" } } },
        "tools/list": { error: { code: -32000, message: said } },
      };
      const otherwise = { error: { code: -32601, message: "no" } };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answers[method] ?? otherwise) }));
    });`;
  await using web = await webServer(loginPage);
  await using here = await machine({
    [userFile]: {
      mcpServers: {
        program: { command: process.execPath, args: ["-e", repeats, "$MY_API_TOKEN", "x$PLAINVAR"] },
        address: { url: `${web.origin}/html?x=$MY_API_TOKEN` },
      },
    },
  });
  const flags = format === "--json" ? [format] : [];
  const program = await here.runWith({ env }, "mcp", "test", "program", ...flags);
  const address = await here.runWith({ env }, "mcp", "test", "address", ...flags);
  const shown = [program, address].map(({ stdout, stderr }) => stdout + stderr).join("\n");
  expect(shown).not.toMatch(/canary/);
  expect(shown).toContain("x$PLAINVAR");
  expect(shown).toContain("/html?x=$MY_API_TOKEN");
  expect(shown).toContain("(hidden) x(hidden)");
  expect(web.seen[0]?.path).toContain("canary-4711");
});

test("an address that has something else: how its answer begins", async () => {
  await using web = await webServer(loginPage);
  await using here = await machine({ [userFile]: { mcpServers: { a: { url: `${web.origin}/mcp` } } } });
  const { code, stdout, stderr } = await here.run("mcp", "test", "a");
  expect(code).toBe(4);
  expect(stdout).toMatch(/ {2}definition .*\n {15}http, then sse: http:\/\/127.*\n/);
  expect(stdout).toMatch(/ {2}answer {7}<!doctype html>\n/);
  expect(stderr).toMatch(/not an MCP server/);
});

test("over HTTP", async () => {
  await using web = await webServer(behaves);
  await using here = await machine({ [userFile]: { mcpServers: { a: { url: `${web.origin}/mcp` } } } });
  const { code, stdout } = await here.run("mcp", "test", "a");
  expect(code).toBe(0);
  expect(stdout).toMatch(/ over streamable HTTP/);
});

test("one that may not start is not started, and one that is not there is unknown", async () => {
  await using here = await machine();
  const trace = { command: "touch", args: [join(here.path, "started")] };
  await here.write(projectFile, { mcpServers: { a: trace } });
  const { code, stdout, stderr } = await here.run("mcp", "test", "a");
  expect({ code, stdout }).toEqual({ code: 6, stdout: "a\n" });
  expect(stderr).toMatch(/not trusted[\s\S]*next: fairlead trust add/);
  expect(await here.run("mcp", "test", "b")).toMatchObject({ code: 2 });
  expect(await readdir(here.path)).not.toContain("started");
  // It would have left its trace.
  await here.run("trust", "add", "--yes");
  expect(await here.run("mcp", "test", "a")).toMatchObject({ code: 4 });
  expect(await readdir(here.path)).toContain("started");
});
