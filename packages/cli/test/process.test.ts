import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { scaled, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "./support/machine.ts";
import { program, runProcess } from "./support/process.ts";
import { openProgram } from "./support/terminal.ts";

test.each([
  ["user", scaled(6, 3), userFile],
  ["project", scaled(3, 2), projectFile],
])("commands that add to the %s settings at once, %i of them, add each their entry", async (scope, length, file) => {
  await using here = await machine({ [file]: '{\n  // mine\n  "theme": "dark"\n}\n' });
  const names = Array.from({ length }, (_, at) => `server-${at}`);
  const endings = await Promise.all(
    names.map((name) => runProcess(here, "mcp", "add", "-s", scope, name, "node", name)),
  );
  expect(endings.map(({ code }) => code)).toEqual(names.map(() => 0));
  const written = await here.read(file);
  expect(written).toContain("// mine");
  const { mcpServers } = JSON.parse(written.replace("// mine", "")) as { mcpServers: object };
  expect(mcpServers).toEqual(Object.fromEntries(names.map((name) => [name, { command: "node", args: [name] }])));
  if (scope === "project") {
    const { servers } = JSON.parse(
      (await here.runWith({ env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } }, "mcp", "list", "--json")).stdout,
    );
    // Approved, and so started; there are no such programs.
    expect(servers.map(({ reason }: { reason: string }) => reason)).toEqual(names.map(() => "server_exited"));
  }
});

test("a reader that goes away ends the command quietly", async () => {
  await using here = await machine();
  const child = spawn(process.execPath, [program, "settings", "schema"], {
    cwd: here.project,
    env: here.env,
    stdio: "pipe",
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.destroy();
  const [code] = await once(child, "close");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("a reader that goes away does not keep the command from saving the catalogs that it has read", async () => {
  const { command, args } = stdioServer("well-behaved");
  await using here = await machine({ [userFile]: { mcpServers: { good: { command, args } } } });
  // A slow disk: no file is in its place before the command learns that its reader is gone.
  const slowDisk = await here.write(
    "slow-disk.mjs",
    `import { once } from "node:events";
     import fs from "node:fs";
     import { syncBuiltinESMExports } from "node:module";
     const { rename } = fs.promises;
     const gone = once(process.stdout, "error").catch(() => {});
     fs.promises.rename = (...paths) => (paths[1].includes("/catalogs/") ? gone : Promise.resolve()).then(() => rename(...paths));
     syncBuiltinESMExports();`,
  );
  const env = { ...here.env, NODE_OPTIONS: `--import=${slowDisk}` };
  const child = spawn(process.execPath, [program, "tools"], { cwd: here.project, env, stdio: "pipe" });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("cancelled") });
  const saved = await readdir(join(here.home, ".fairlead/catalogs"));
  expect(saved).toEqual([expect.stringMatching(/^[0-9a-f]+\.json$/)]);
  const { servers } = JSON.parse((await runProcess(here, "mcp", "list", "--cached", "--json")).stdout);
  expect(servers).toMatchObject([{ name: "good", savedAt: expect.any(String) }]);
});

test("an unexpected error is told with nothing in it that a terminal would obey", async () => {
  await using here = await machine();
  const crash = await here.write(
    "crash.mjs",
    'setImmediate(() => { throw new Error("boom\\u001b[31m\\nfairlead: all is well"); });',
  );
  const env = { ...here.env, NODE_OPTIONS: `--import=${crash}` };
  const { code, stderr } = await runProcess({ ...here, env }, "mcp", "list");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^fairlead: internal error: Error: boom/);
  expect(stderr).not.toContain("\u001b");
  expect(stderr).not.toMatch(/^fairlead: all/m);
});

test("the bundle runs every part that writes: settings, trust, secrets", async () => {
  await using here = await machine();
  const { command, args } = stdioServer("well-behaved");
  const endings = [
    await runProcess(here, "mcp", "add", "a", command, ...args),
    await runProcess(here, "trust", "add", "--yes"),
    await runProcess(here, "secret", "set", "S", "--value-from", "HOME"),
    await runProcess(here, "secret", "list"),
    await runProcess(here, "mcp", "list", "--strict"),
    await runProcess(here, "trust", "remove"),
    await runProcess(here, "secret", "remove", "S"),
  ];
  expect(endings.map(({ code, stderr }) => (code === 0 ? code : stderr))).toEqual(endings.map(() => 0));
});

test("a current folder that was removed is said in words", async () => {
  await using here = await machine();
  const script = `mkdir -p gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${program}" mcp list`;
  const child = spawn("sh", ["-c", script], { cwd: here.project, env: here.env, stdio: "pipe" });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = await once(child, "close");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "fairlead: the current folder no longer exists\n  next: Change to a folder that exists, then try again.\n",
  });
});

test.each(["", ".", "home"])("with HOME=%j the folder it runs in does not become the person's own", async (home) => {
  const planted = { mcpServers: { planted: { command: "x" } } };
  await using here = await machine({ [projectFile]: planted, "project/home/.gemini/settings.json": planted });
  const moved = { ...here, env: { ...here.env, HOME: home, FAIRLEAD_HOME: join(here.path, "state") } };
  const { stdout } = await runProcess(moved, "settings", "path", "--json");
  const { files } = JSON.parse(stdout) as { files: { scope: string; file: string }[] };
  expect(files.find(({ scope }) => scope === "user")?.file).toBe(join(userInfo().homedir, ".gemini/settings.json"));
});

test.each([["--version"], ["--help"], ["mcp list"], ["settings schema"]])(
  "`%s` says so when its output cannot be written",
  async (words) => {
    await using here = await machine();
    const full = await open("/dev/full", "w");
    const child = spawn(process.execPath, [program, ...words.split(" ")], {
      cwd: here.project,
      env: here.env,
      stdio: ["ignore", full.fd, "pipe"],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr as Readable), once(child, "close")]);
    await full.close();
    expect(code).toBe(1);
    expect(stderr.match(/cannot write.*/g)).toEqual(["cannot write to stdout: ENOSPC: no space left on device, write"]);
  },
);

test("--help fits a narrow terminal, with every word whole", async () => {
  await using here = await machine();
  const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");
  const { stdout } = await runProcess(here, "--help");
  await using terminal = openProgram(here, "sh", "-c", `stty cols 60; exec "${process.execPath}" "${program}" --help`);
  expect(await terminal.exitCode).toBe(0);
  const screen = terminal.screen();
  expect(screen.split("\n").filter((line) => line.length > 60)).toEqual([]);
  expect(words(screen)).toEqual(words(stdout));
});
