import { chmod, link, mkdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ideCompanion, type TemporaryFolder, temporaryFolder, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createIdeTrust, type IdeTrust } from "../../src/ide/ide-trust.ts";
import type { IdeReport } from "../../src/trust/trust-decision.ts";
import { manualClock } from "../support/manual-clock.ts";

type Variables = Readonly<Record<string, string>>;

/** Asks once, in an environment whose folder for temporary files is `tmp` in the test's folder. */
async function ask(
  folder: TemporaryFolder,
  env: Variables,
  root: string,
  isInTerminal = true,
): Promise<IdeReport | undefined> {
  const ide = ideIn(folder, env, isInTerminal);
  try {
    return await ide.report(root);
  } finally {
    await ide.close();
  }
}

/** The second for the first answer does not pass, so that a busy machine fails no test. */
function ideIn(folder: TemporaryFolder, env: Variables, isInTerminal: boolean): IdeTrust {
  const environment = { env: { TMPDIR: join(folder.path, "tmp"), ...env }, platform: process.platform };
  return createIdeTrust({ environment, isInTerminal, clock: manualClock() });
}

async function workspace(folder: TemporaryFolder, name = "work"): Promise<string> {
  const root = join(folder.path, name);
  await mkdir(root, { recursive: true });
  return root;
}

/** A process above this one stands for the IDE. */
const parent = process.ppid;

describe("where a companion is found", () => {
  test.each([true, false])(
    "the variables of the integrated terminal lead to what the IDE reports: %s",
    async (isTrusted) => {
      await using folder = await temporaryFolder();
      await using companion = await ideCompanion({ isTrusted });
      const root = await workspace(folder);
      const { port } = companion;
      expect(await ask(folder, companion.variables(root), root)).toEqual({ isTrusted, port });
      expect(await ask(folder, companion.variables(folder.path), root)).toEqual({ isTrusted, port });
      expect(await ask(folder, companion.variables("/", ""), root)).toEqual({ isTrusted, port });
      expect(companion.refused()).toBe(0);
      await until(() => companion.streams() === 0);
    },
  );

  test("a port file of an IDE that is a parent of this process needs no variables", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    await companion.writePortFile(folder, { process: parent, workspace: `/elsewhere:${root}` });
    expect(await ask(folder, {}, root)).toEqual({ isTrusted: true, port: companion.port });
  });

  test("the variable with the IDE's process replaces the search for parents", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    await companion.writePortFile(folder, { process: 4_000_001, workspace: root });
    expect(await ask(folder, {}, root)).toBeUndefined();
    expect(await ask(folder, { GEMINI_CLI_IDE_PID: "4000001" }, root)).toMatchObject({ isTrusted: true });
    expect(await ask(folder, { GEMINI_CLI_IDE_PID: "4000002" }, root)).toBeUndefined();
  });

  test("a process that works for other terminals finds no IDE among its parents, only in the variables", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    await companion.writePortFile(folder, { process: parent, workspace: root });
    expect(await ask(folder, {}, root, false)).toBeUndefined();
    expect(await ask(folder, companion.variables(root), root, false)).toMatchObject({ isTrusted: true });
  });

  test("a file wins over the variables, and the file with the terminal's port over other windows", async () => {
    await using folder = await temporaryFolder();
    await using one = await ideCompanion({ isTrusted: true });
    await using other = await ideCompanion({ isTrusted: false });
    const root = await workspace(folder);
    await one.writePortFile(folder, { process: parent, workspace: root });
    await other.writePortFile(folder, { process: parent, workspace: root });
    for (const wanted of [one, other])
      expect(await ask(folder, wanted.variables(root), root)).toMatchObject({ port: wanted.port });
    const { GEMINI_CLI_IDE_AUTH_TOKEN: _, ...variables } = one.variables("/nowhere");
    const stale = { ...variables, GEMINI_CLI_IDE_AUTH_TOKEN: "of-an-earlier-window" };
    expect(await ask(folder, stale, root)).toMatchObject({ port: one.port });
    expect(one.refused()).toBe(0);
  });

  test("if the window of the file is gone, the variables are used", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    const gone = await ideCompanion();
    await gone.writePortFile(folder, { process: parent, workspace: root });
    await gone[Symbol.asyncDispose]();
    expect(await ask(folder, companion.variables(root), root)).toMatchObject({ port: companion.port });
  });

  test("a file of an old companion has no port in its name and no token", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    const file = await companion.writePortFile(folder, {
      process: parent,
      workspace: root,
      more: { authToken: undefined },
    });
    await rename(file, file.replace(`-${companion.port}`, ""));
    expect(await ask(folder, {}, root)).toBeUndefined();
    expect(companion.refused()).toBe(1);
    expect(await ask(folder, companion.variables("/nowhere"), root)).toMatchObject({ isTrusted: true });
  });
});

describe("a folder that the window does not contain is not the IDE's to decide", () => {
  test.each<[string, (root: string) => string]>([
    ["no folder", () => ""],
    ["another folder", (root) => `${root}-other`],
    ["a folder with the same beginning", (root) => root.slice(0, -1)],
    ["a folder inside", (root) => join(root, "inside")],
    ["a relative path", () => "."],
    ["a folder that does not exist", (root) => `${root}/../gone/..`],
  ])("%s", async (_, path) => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    for (const name of ["work-other", "wor", "work/inside"]) await workspace(folder, name);
    expect(await ask(folder, companion.variables(path(root)), root)).toBeUndefined();
    await companion.writePortFile(folder, { process: parent, workspace: path(root) });
    expect(await ask(folder, {}, root)).toBeUndefined();
    expect(companion.seen).toEqual([]);
  });

  test("links are resolved first, in both directions", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    const opened = await workspace(folder, "opened");
    await symlink(root, join(folder.path, "alias"));
    await symlink(opened, join(root, "opened"));
    expect(await ask(folder, companion.variables(join(folder.path, "alias")), root)).toMatchObject({ isTrusted: true });
    // A link inside of the workspace leads out of it.
    expect(await ask(folder, companion.variables(join(root, "opened")), root)).toBeUndefined();
  });
});

describe("a port file that others could have written is ignored", () => {
  test.each<[string, (file: string, folder: TemporaryFolder) => Promise<unknown>]>([
    ["others can read it", (file) => chmod(file, 0o604)],
    ["others can write it", (file) => chmod(file, 0o602)],
    ["the group can write it", (file) => chmod(file, 0o620)],
    ["it has a second name", (file, { path }) => link(file, join(path, "second"))],
    [
      "it is a link",
      async (file, { path }) => {
        await rename(file, join(path, "target"));
        await symlink(join(path, "target"), file);
      },
    ],
    [
      "it is a folder",
      async (file, { path }) => {
        await rename(file, join(path, "target"));
        await mkdir(file);
      },
    ],
    [
      "it is too large",
      async (file, folder) => {
        const text = (await folder.read(file.slice(folder.path.length))).replace("{", `{${" ".repeat(70_000)}`);
        await folder.write(file.slice(folder.path.length), text);
      },
    ],
    ["it is not JSON", (file, folder) => folder.write(file.slice(folder.path.length), "{")],
    ["it is a list", (file, folder) => folder.write(file.slice(folder.path.length), "[]")],
    ["it is empty", (file, folder) => folder.write(file.slice(folder.path.length), "")],
  ])("%s", async (_, spoil) => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    const file = await companion.writePortFile(folder, { process: parent, workspace: root });
    await spoil(file, folder);
    expect(await ask(folder, {}, root)).toBeUndefined();
    expect(companion.seen).toEqual([]);
  });

  test.each<[string, object]>([
    ["port 0", { port: 0 }],
    ["a port above 65535", { port: 65_536 }],
    ["a negative port", { port: -1 }],
    ["a fraction", { port: 80.5 }],
    ["a port as text", { port: "8080" }],
    ["a host in the port", { port: "1@example.com:80" }],
    ["a list of folders", { workspacePath: ["/"] }],
    ["a token with a line break", { authToken: "a\r\nx-other: 1" }],
    ["an endless token", { authToken: "a".repeat(5000) }],
  ])("its content is wrong: %s", async (_, more) => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    await companion.writePortFile(folder, { process: parent, workspace: root, more });
    expect(await ask(folder, {}, root)).toBeUndefined();
    expect(companion.seen).toEqual([]);
  });

  test.each(["0", "65536", "-1", "80.5", "0x50", " 80", "1@example.com:80", "99999"])(
    "the port %s in the environment leads nowhere",
    async (port) => {
      await using folder = await temporaryFolder();
      await using companion = await ideCompanion();
      const root = await workspace(folder);
      const env = { ...companion.variables(root), GEMINI_CLI_IDE_SERVER_PORT: port };
      expect(await ask(folder, env, root)).toBeUndefined();
    },
  );

  test("a folder of port files inside of the workspace, or a relative one", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    await companion.writePortFile(folder, { process: parent, workspace: root, below: "work/tmp" });
    expect(await ask(folder, { TMPDIR: join(root, "tmp") }, root)).toBeUndefined();
    await symlink(join(root, "tmp"), join(folder.path, "alias"));
    expect(await ask(folder, { TMPDIR: join(folder.path, "alias") }, root)).toBeUndefined();
    expect(await ask(folder, { TMPDIR: "work/tmp" }, root)).toBeUndefined();
    expect(companion.seen).toEqual([]);
  });

  test("the first process of the system is no IDE", async () => {
    await using folder = await temporaryFolder();
    await using companion = await ideCompanion();
    const root = await workspace(folder);
    await companion.writePortFile(folder, { process: 1, workspace: root });
    expect(await ask(folder, {}, root)).toBeUndefined();
    expect(await ask(folder, { GEMINI_CLI_IDE_PID: "1" }, root)).toBeUndefined();
  });
});

test("the token is sent, no proxy is asked, and a program that the environment names is not started", async () => {
  await using folder = await temporaryFolder();
  await using companion = await ideCompanion();
  await using proxy = await ideCompanion();
  const root = await workspace(folder);
  const address = `http://127.0.0.1:${proxy.port}`;
  const env = {
    ...companion.variables(root),
    HTTP_PROXY: address,
    http_proxy: address,
    ALL_PROXY: address,
    GEMINI_CLI_IDE_SERVER_STDIO_COMMAND: "/usr/bin/touch",
    GEMINI_CLI_IDE_SERVER_STDIO_ARGS: JSON.stringify([join(folder.path, "started")]),
  };
  const saved = process.env["HTTP_PROXY"];
  process.env["HTTP_PROXY"] = address;
  try {
    expect(await ask(folder, env, root)).toMatchObject({ isTrusted: true });
  } finally {
    if (saved === undefined) delete process.env["HTTP_PROXY"];
    else process.env["HTTP_PROXY"] = saved;
  }
  expect(proxy.seen).toEqual([]);
  const { GEMINI_CLI_IDE_SERVER_PORT: _, ...onlyProgram }: Variables = env;
  expect(await ask(folder, onlyProgram, root)).toBeUndefined();
  await expect(folder.read("started")).rejects.toThrow("ENOENT");
  expect(companion.seen.map(({ method, headers }) => [method, headers.authorization])).toEqual(
    ["POST", "POST", "GET", "DELETE"].map((method) => [method, `Bearer ${companion.token}`]),
  );
  expect(JSON.parse(companion.seen[0]?.body ?? "")).toMatchObject({
    method: "initialize",
    params: { clientInfo: { name: "fairlead" }, capabilities: {} },
  });
});

test("without a companion nothing is opened", async () => {
  await using folder = await temporaryFolder();
  const root = await workspace(folder);
  expect(await ask(folder, {}, root)).toBeUndefined();
  await folder.write("tmp/gemini/ide/other.json", "{}");
  expect(await ask(folder, {}, root)).toBeUndefined();
});

test.each<[string, unknown]>([
  ["nothing about trust", { workspaceState: { openFiles: [] } }],
  ["no state", {}],
  ["trust as text", { workspaceState: { isTrusted: "true" } }],
  ["trust as a number", { workspaceState: { isTrusted: 1 } }],
  ["a list", { workspaceState: [true] }],
  ["trust that the prototype has", JSON.parse('{"workspaceState":{"__proto__":{"isTrusted":true}}}')],
])("a companion that reports %s says nothing", async (_, params) => {
  await using folder = await temporaryFolder();
  await using companion = await ideCompanion();
  companion.sendContext(params);
  const root = await workspace(folder);
  expect(await ask(folder, companion.variables(root), root)).toBeUndefined();
  expect(companion.seen.some(({ method }) => method === "GET")).toBe(true);
});
