import { spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { behaves, programServer, stdioServer, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { complaints, findingsOf } from "../support/findings.ts";
import { machine, projectFile, userFile } from "../support/machine.ts";
import { pathOf } from "../support/path-program.ts";
import { program } from "../support/process.ts";

const env = { FAIRLEAD_SECRET_STORE: "file" };

test("with nothing configured and nothing wrong, it says so in a few lines", async () => {
  await using here = await machine();
  const { code, stdout, stderr } = await here.runWith({ env }, "doctor");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(await readdir(here.home)).toEqual([]);
  expect(stdout.replaceAll(here.path, "")).toMatch(
    new RegExp(
      [
        "^settings {2}ok {7}no settings file yet",
        " {10}note {5}no server is configured",
        " {19}next: fairlead mcp import",
        "trust {5}ok {7}/project is not trusted \\(no rule covers it\\) and has no settings",
        "programs {2}ok {7}Node v.*",
        "network {3}ok {7}no proxy",
        "secrets {3}ok {7}0 stored in an encrypted file \\(no keychain in use\\)",
        "state {5}ok {7}/home/.fairlead can be written",
        "packages {2}ok {7}no server is downloaded at start",
        "",
        "0 problems, 0 warnings\n$",
      ].join("\n"),
    ),
  );
});

test("each server that may start is connected to; of the others it says why not", async () => {
  await using web = await webServer(behaves);
  await using here = await machine({
    [userFile]: {
      mcpServers: {
        good: stdioServer("well-behaved"),
        web: { httpUrl: `${web.origin}/mcp` },
        ends: programServer("exits"),
        off: stdioServer("well-behaved"),
      },
      mcp: { excluded: ["off"] },
    },
    [projectFile]: { mcpServers: { planted: { command: "touch", args: ["started"] } } },
  });
  const ending = await here.runWith({ env }, "doctor", "--json");
  expect(ending).toMatchObject({ code: 0, stderr: "" });
  const servers = findingsOf(ending).filter(({ group }) => group === "servers");
  const shown = servers.map(({ message, ...rest }) => ({ ...rest, message: message.replace(/, \d+ ms\)$/, ")") }));
  expect(shown).toEqual([
    {
      group: "servers",
      severity: "ok",
      server: "good",
      message: "good is connected: 1 tool (protocol 2025-11-25)",
    },
    { group: "servers", severity: "ok", server: "web", message: "web is connected: 1 tool (protocol 2025-11-25)" },
    {
      group: "servers",
      severity: "problem",
      server: "ends",
      code: "server_exited",
      message: expect.stringContaining('"ends" exited with code'),
      next: expect.any(String),
    },
    {
      group: "servers",
      severity: "note",
      server: "off",
      message: expect.stringContaining("excluded by mcp.excluded"),
      next: expect.stringContaining('Remove "off" from'),
    },
  ]);
  expect(findingsOf(ending).filter(({ group, severity }) => group === "trust" && severity === "warning")).toEqual([
    {
      group: "trust",
      severity: "warning",
      message: `${here.project} is not trusted (no rule covers it), so its settings are ignored (servers: planted)`,
      next: "fairlead trust add",
    },
  ]);
  const listed = JSON.parse((await here.runWith({ env }, "mcp", "list", "--json")).stdout) as {
    servers: { skipped?: object; share?: string; tokens?: number }[];
  };
  // Only the list says how long other commands skip a server, what its tools cost, and which clients share it.
  const others = listed.servers.map(({ skipped: _times, share: _share, tokens: _tokens, ...server }) => server);
  expect(JSON.parse(ending.stdout)).toMatchObject({ schemaVersion: 1, servers: others });
});

test("the exit code is 0 unless it is asked for the worst", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { a: { command: "no-such-program" } } } });
  expect(await here.runWith({ env }, "doctor")).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await here.runWith({ env }, "doctor", "--strict");
  expect(code).toBe(4);
  expect(stdout).toMatch(/\n1 problem, 0 warnings\n$/);
  expect(stderr).toMatch(/^fairlead: 1 problem, 0 warnings\n/);
  await here.write(userFile, {});
  expect(await here.runWith({ env }, "doctor", "--strict")).toMatchObject({ code: 0 });
});

test("one server: what is said of others is left out, and one that is not there is unknown", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { a: { command: "no-such-a" }, b: { command: "no-such-b" } } },
  });
  const ending = await here.runWith({ env }, "doctor", "b", "--json");
  expect(complaints(ending).map(({ server }) => server)).toEqual(["b"]);
  expect(ending.stdout).not.toContain("no-such-a");
  expect(await here.runWith({ env }, "doctor", "c")).toMatchObject({ code: 2 });
});

test("broken settings: where, and everything else all the same", async () => {
  await using here = await machine({
    [userFile]: '{\n  "mcpServers": {,}\n}',
    "etc/settings.json": { mcpServers: { a: stdioServer("well-behaved") } },
  });
  const ending = await here.runWith({ env }, "doctor", "--json");
  expect(complaints(ending)).toEqual([
    {
      group: "settings",
      severity: "problem",
      code: "settings_invalid",
      message: expect.stringMatching(/settings\.json:2:18: .*is not valid JSON/),
      next: expect.stringContaining("at line 2, column 18"),
    },
  ]);
  expect(findingsOf(ending)).toContainEqual(expect.objectContaining({ server: "a", severity: "ok" }));
});

test.each<[string, string | Uint8Array | undefined]>([
  ["broken JSON", "{"],
  ["UTF-16 text", Buffer.from("\ufeff{}", "utf16le")],
  ["a folder", undefined],
])("%s as the only settings file: nothing says that there is none", async (_name, content) => {
  await using here = await machine();
  const file = join(here.path, userFile);
  await mkdir(content === undefined ? file : join(file, ".."), { recursive: true });
  if (content !== undefined) await writeFile(file, content);
  const ending = await here.runWith({ env }, "doctor", "--json");
  expect(findingsOf(ending).filter(({ group }) => group === "settings")).toMatchObject([
    { severity: "problem", code: "settings_invalid", message: expect.stringContaining(file) },
  ]);
});

test("settings of a folder that is not trusted are there, if not read", async () => {
  await using here = await machine({ [projectFile]: {} });
  const ending = await here.runWith({ env }, "doctor", "--json");
  expect(findingsOf(ending).filter(({ group }) => group === "settings")).toMatchObject([
    { severity: "note", message: `${join(here.path, projectFile)} ignored: the folder is not trusted` },
    { severity: "note", message: "no server is configured" },
  ]);
});

test("where not even the files can be found, that is the first finding", async () => {
  await using here = await machine();
  const ending = await here.runWith({ env: { ...env, FAIRLEAD_HOME: "relative" } }, "doctor", "--json", "--strict");
  expect(ending.code).toBe(3);
  expect(complaints(ending)).toMatchObject([{ group: "settings", code: "settings_invalid", next: expect.any(String) }]);
  expect(new Set(findingsOf(ending).map(({ group }) => group))).toEqual(new Set(["settings", "programs", "network"]));
});

test("folder trust that is switched off is a warning that names the place", async () => {
  await using here = await machine({
    [userFile]: { security: { folderTrust: { enabled: false } } },
    [projectFile]: { mcpServers: { new: { command: "x" } } },
  });
  const ending = await here.runWith({ env }, "doctor", "--json");
  const file = join(here.path, userFile);
  expect(complaints(ending).filter(({ group }) => group === "trust")).toEqual([
    {
      group: "trust",
      severity: "warning",
      message: `every folder is trusted: security.folderTrust.enabled is false in ${file}:4`,
      next: `remove "enabled": false from security.folderTrust in ${file}:4`,
    },
    {
      group: "trust",
      severity: "warning",
      server: "new",
      message: expect.stringContaining("has not been approved yet"),
      next: "fairlead trust add",
    },
  ]);
});

test("packages without a version, and secrets that are not stored, each with the command that helps", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: {
        npm: { command: "npx", args: ["-y", "@scope/pkg@latest"] },
        uv: { command: "uvx", args: ["--from", "git+https://u:canary-4711@example.com/x", "x"] },
        image: { command: "docker", args: ["run", "-i", "mcp/time"] },
        tagged: { command: "docker", args: ["run", "-i", "mcp/time:1.2"] },
        exact: { command: "npx", args: ["pkg@1.2.3"] },
        secret: { command: "x", env: { T: "${secret:MISSING}" } },
      },
    },
  });
  const ending = await here.runWith({ env: { ...env, PATH: pathOf(here) } }, "doctor", "--json");
  const of = (group: string): readonly unknown[] =>
    findingsOf(ending)
      .filter((finding) => finding.group === group)
      .map(({ severity, server, message, next }) => [severity, server, message, next]);
  expect(of("packages")).toEqual([
    ["ok", undefined, "exact version: pkg@1.2.3 (exact)", undefined],
    [
      "warning",
      "npm",
      '"npm" runs @scope/pkg@latest from npm without an exact version: the version may change at any time',
      "fairlead mcp pin npm",
    ],
    [
      "warning",
      "uv",
      '"uv" runs git+https://u:(hidden)@example.com/x from PyPI without an exact version: the version may change at any time',
      "fairlead mcp pin uv",
    ],
    [
      "warning",
      "image",
      '"image" runs mcp/time from an image registry without an exact version: the version may change at any time',
      "fairlead mcp pin image",
    ],
    [
      "note",
      "tagged",
      '"tagged" runs the image mcp/time:1.2: its tag can be moved to another image',
      "fairlead mcp pin tagged",
    ],
  ]);
  expect(of("secrets")).toEqual([
    ["ok", undefined, "0 stored in an encrypted file (no keychain in use)", undefined],
    ["problem", "secret", '"secret" needs the secret MISSING, which is not stored', "fairlead secret set MISSING"],
  ]);
  expect(ending.stdout).not.toContain("canary");
});

test("what a server offers and no model can use is pointed out", async () => {
  await using here = await machine();
  await here.write("list.json", [
    { name: "", inputSchema: { type: "object" } },
    { name: "fine", inputSchema: { type: "object" } },
    {
      name: "odd",
      inputSchema: { type: "object", properties: { a: { oneOf: [{ type: "string" }, { type: "number" }] } } },
    },
  ]);
  const counted = stdioServer("counted", join(here.path, "notes"), join(here.path, "list.json"), "counted");
  await here.write(userFile, { mcpServers: { a: { ...counted, includeTools: ["fine", "odd", "missing"] } } });
  const ending = await here.runWith({ env }, "doctor", "--json");
  const own = complaints(ending).filter(({ group }) => group === "servers");
  expect(own).toContainEqual({
    group: "servers",
    severity: "warning",
    server: "a",
    message: expect.stringMatching(/^"a": .*missing/),
    next: "fairlead tools a",
  });
});

test("no secret is shown, wherever a server repeats it", async () => {
  const repeats = "const { KEY, HTTP_PROXY } = process.env; console.error(KEY, HTTP_PROXY); process.exit(1)";
  await using here = await machine({
    [userFile]: {
      mcpServers: { a: { command: process.execPath, args: ["-e", repeats], env: { KEY: "canary-4711-$OTHER" } } },
    },
  });
  const secret = {
    ...env,
    OTHER: "canary-4712",
    HTTPS_PROXY: "http://me:canary-4713@127.0.0.1:9",
    HTTP_PROXY: "me:canary-4714@127.0.0.1:9",
    ALL_PROXY: "me:canary-4715@[",
  };
  for (const flags of [[], ["--json"]]) {
    const { stdout, stderr } = await here.runWith({ env: secret }, "doctor", ...flags);
    expect(stdout + stderr).not.toContain("canary");
    expect(stdout).toContain("(hidden)");
  }
});

const alone = ["--user", "--map-root-user", "--mount", "sh", "-c"];
const canMount = spawnSync("unshare", [...alone, "mount -t tmpfs none /mnt"]).status === 0;

test.runIf(canMount).each([
  ["a full disk", 'dd if=/dev/zero of="$HOME/filler" bs=1k 2>/dev/null', "the disk is full"],
  ["a read-only home", 'mount -o remount,bind,ro "$HOME"', "the file system is read-only"],
])("%s", async (_name, damage, why) => {
  await using here = await machine();
  await mkdir(join(here.path, "small"));
  const script = `export HOME="$1"; mount -t tmpfs -o size=256k none "$HOME" && mkdir -m 700 "$HOME/.fairlead"; ${damage}; exec "$2" "$3" doctor --json`;
  const { stdout } = spawnSync(
    "unshare",
    [...alone, script, "sh", join(here.path, "small"), process.execPath, program],
    {
      cwd: here.project,
      env: { ...here.env, ...env },
      encoding: "utf8",
    },
  );
  expect(complaints({ stdout })).toContainEqual(
    expect.objectContaining({ group: "state", severity: "problem", message: expect.stringContaining(`(${why})`) }),
  );
});
