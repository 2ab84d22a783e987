import { chmod, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import type { World } from "../support/load-settings.ts";
import { type Connection, connection, script } from "./connection.ts";

/** Programs that give themselves away, in every place of the workspace that something might look in. */
async function plant({ folder, root }: World): Promise<void> {
  const evil = "#!/bin/sh\necho PLANTED >&2\nexit 66\n";
  for (const place of [
    "tool",
    "bin/tool",
    "node_modules/.bin/tool",
    "node_modules/.bin/npx",
    "bin/uname",
    "bin/node",
    "node",
  ]) {
    await chmod(await folder.write(`workspace/${place}`, evil), 0o755);
  }
  await folder.write("workspace/json.py", 'raise SystemExit("PLANTED")\n');
  await folder.write("workspace/node_modules/helper/index.js", 'throw new Error("PLANTED")\n');
  await folder.write("workspace/.npmrc", `node-options=--require=${join(root, "node_modules/helper/index.js")}\n`);
  await folder.write("workspace/package.json", { name: "planted", bin: { tool: "./tool" } });
}

async function untrusted(
  entry: object | ((world: World) => object),
  path: (world: World) => readonly string[] = () => [],
  trusted = false,
): Promise<Connection> {
  const env: Record<string, string> = {};
  return connection(
    async (world) => {
      await plant(world);
      env["PATH"] = [...path(world), "/usr/bin", "/bin", join(process.execPath, "..")].join(":");
      return typeof entry === "function" ? entry(world) : entry;
    },
    { env, trusted },
  );
}

const everyWay = ({ root }: World): readonly string[] => [
  "",
  ".",
  "./bin",
  "bin",
  root,
  join(root, "node_modules/.bin"),
];

describe("in a folder that is not trusted", () => {
  test("a user's server starts in the home folder", async () => {
    await using server = await untrusted(stdioServer("well-behaved"));
    await server.open();
    expect(server.steps).toContainEqual(expect.objectContaining({ step: "program", cwd: server.world.home }));
  });

  test("what lies in the folder is not found by name, and the message says what was left out", async () => {
    await using server = await untrusted({ command: "tool" }, everyWay);
    const { code, message } = await server.failure();
    expect(code).toBe("command_not_found");
    expect(message).toContain('PATH entries ignored because this folder is not trusted: "", ".", "./bin", "bin"');
    expect(await server.log()).not.toContain("PLANTED");
  });

  test("for a command that is a path, Fairlead does not look in PATH", async () => {
    await using server = await untrusted({ command: "/nowhere/tool" }, everyWay);
    const { code, message } = await server.failure();
    expect(code).toBe("command_not_found");
    expect(message).not.toContain("PATH entries ignored");
  });

  test("nor by way of a link from outside", async () => {
    await using server = await untrusted({ command: "tool" }, ({ home }) => [join(home, "links")]);
    await symlink(join(server.world.root, "bin"), join(server.world.home, "links"));
    expect(await server.failure()).toMatchObject({ code: "command_not_found" });
  });

  test("a link to a program in it does not run", async () => {
    await using server = await untrusted({ command: "tool" }, ({ home }) => [join(home, "links")]);
    await mkdir(join(server.world.home, "links"));
    await symlink(join(server.world.root, "tool"), join(server.world.home, "links", "tool"));
    expect(await server.failure()).toMatchObject({
      code: "untrusted_folder",
      message: `"s" would run ${server.world.home}/links/tool, which is in a folder that is not trusted`,
      next: "fairlead trust add",
    });
  });

  test.each([
    [
      "command",
      (world: World) => ({ command: join(world.root, "tool") }),
      /^"s" would run .*\/workspace\/tool, which is in/,
    ],
    [
      "cwd",
      (world: World) => ({ ...stdioServer("silent"), cwd: world.root }),
      /^"s" would start in .*\/workspace, which is in/,
    ],
    [
      "cwd",
      () => ({ ...stdioServer("silent"), cwd: "$PWD/bin" }),
      /^"s" would start in .*\/workspace\/bin, which is in/,
    ],
  ])("an entry that names it as %s does not start", async (_key, entry, message) => {
    await using server = await untrusted(entry);
    expect(await server.failure()).toMatchObject({
      code: "untrusted_folder",
      message: expect.stringMatching(message),
    });
  });

  test.each([
    ["a Python module", { command: "python3", args: ["-c", "import json, sys; print('ran', file=sys.stderr)"] }],
    ["a Node module", script("try { require('helper') } catch ({ message }) { console.error('ran', message) }")],
    ["an interpreter", { command: "/usr/bin/env", args: ["node", "-e", "console.error('ran')"] }],
    ["a shell's search", { command: "sh", args: ["-c", "tool; uname; echo ran >&2"] }],
    [
      "the entry's own PATH",
      { command: "sh", args: ["-c", "tool; echo ran >&2"], env: { PATH: "./bin:$PWD/bin:/bin" } },
    ],
    ["a package's program", { command: "sh", args: ["-c", "npx --no --offline tool; echo ran >&2"] }],
    ["the settings of npm", { command: "npx", args: ["-c", "node -e 'console.error(`ran`)'"] }],
  ])("%s is not taken from it", async (_name, entry) => {
    await using server = await untrusted(entry, everyWay);
    await server.failure();
    const log = await server.log();
    expect(log).not.toContain("PLANTED");
    expect(log).toContain(" stderr ran");
  });
});

test("in a trusted folder the same programs are the person's own", async () => {
  await using server = await untrusted({ command: "tool" }, everyWay, true);
  await server.failure();
  expect(await server.log()).toContain(" stderr PLANTED");
});

test("who works above the home folder has everything inside: only what depends on the current folder is left out", async () => {
  const env: Record<string, string> = {};
  await using server = await connection(
    async ({ folder, home }) => {
      await chmod(await folder.write("home/.local/bin/tool", "#!/bin/sh\necho OWN >&2\n"), 0o755);
      env["PATH"] = `./bin:${home}/.local/bin:/bin`;
      return { command: "tool" };
    },
    { trusted: false, root: "/", env },
  );
  await server.failure();
  expect(server.steps).toContainEqual(expect.objectContaining({ step: "program", droppedPath: ["./bin"] }));
  expect(await server.log()).toContain(" stderr OWN");
});
