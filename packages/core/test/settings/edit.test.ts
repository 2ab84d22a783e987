import { chmod, readFile, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { removeServer, setServerEnabled, writeServer } from "../../src/settings/edit.ts";
import { createWorld } from "../support/load-settings.ts";

const text = `{
  // mine
  "theme": "dark",
  "mcpServers": {
    "a": { "command": "x" }, // first
    "b": { "command": "y" }
  }
}
`;

describe("writing a server", () => {
  test("leaves the rest of the file as it is", async () => {
    await using world = await createWorld();
    const file = await world.writeUser(text);
    expect(await writeServer(file, "c", { command: "z" }, { replace: false })).toEqual({ replaced: undefined });
    const { mcpServers } = JSON.parse((await readFile(file, "utf8")).replaceAll(/\/\/.*/g, "")) as {
      mcpServers: object;
    };
    expect(Object.keys(mcpServers)).toEqual(["a", "b", "c"]);
    expect(await removeServer(file, "c")).toEqual({ removed: { command: "z" } });
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("creates the file", async () => {
    await using world = await createWorld();
    await writeServer(world.userFile, "a", { command: "x" }, { replace: false });
    expect(JSON.parse(await readFile(world.userFile, "utf8"))).toEqual({ mcpServers: { a: { command: "x" } } });
  });

  test("replaces only what it was told to replace, and hands back what was there", async () => {
    await using world = await createWorld();
    const file = await world.writeUser(text);
    await expect(writeServer(file, "a", { command: "new" }, { replace: false })).rejects.toMatchObject({
      code: "usage",
      serverName: "a",
    });
    expect(await readFile(file, "utf8")).toBe(text);
    expect(await writeServer(file, "a", { command: "new" }, { replace: true })).toEqual({ replaced: { command: "x" } });
    expect(await readFile(file, "utf8")).toBe(text.replace('{ "command": "x" }', '{\n      "command": "new"\n    }'));
  });

  test("takes any name", async () => {
    await using world = await createWorld();
    await writeServer(world.userFile, "__proto__", { command: "x" }, { replace: false });
    expect((await world.load()).servers.map(({ name }) => name)).toEqual(["__proto__"]);
    expect(await removeServer(world.userFile, "__proto__")).toEqual({ removed: { command: "x" } });
    expect((await world.load()).servers).toEqual([]);
  });

  test("ten at once: ten entries", async () => {
    await using world = await createWorld();
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => writeServer(world.userFile, name, { command: name }, { replace: false })));
    expect((await world.load()).servers.map(({ name }) => name).sort()).toEqual(names);
  });
});

describe("removing a server", () => {
  test("that is not there changes nothing, not even a missing file", async () => {
    await using world = await createWorld();
    expect(await removeServer(world.userFile, "a")).toEqual({ removed: undefined });
    await expect(readFile(world.userFile)).rejects.toThrow("ENOENT");
  });

  test("removes it wherever it is written, so that none comes back", async () => {
    await using world = await createWorld();
    const file = await world.writeUser(
      '{ "mcpServers": { "a": { "command": "1" }, "b": { "command": "2" }, "a": { "command": "3" } } }',
    );
    expect(await removeServer(file, "a")).toEqual({ removed: { command: "3" } });
    expect((await world.load()).servers.map(({ name }) => name)).toEqual(["b"]);
  });
});

describe("switching a server off and on", () => {
  test("gives the file back as it was", async () => {
    await using world = await createWorld();
    const file = await world.writeUser(text);
    await setServerEnabled(file, "a", false);
    expect((await world.load()).servers.map(({ enabled }) => enabled)).toEqual([false, true]);
    await setServerEnabled(file, "a", true);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("keeps what else is set for it, and what a person noted there", async () => {
    await using world = await createWorld();
    const content = '{ "fairlead": { "servers": { "a": { "start": "lazy" }, "b": { /* why */ } } } }';
    const file = await world.writeUser(content);
    for (const name of ["a", "b"]) {
      await setServerEnabled(file, name, false);
      await setServerEnabled(file, name, true);
    }
    expect(await readFile(file, "utf8")).toContain('"a": { "start": "lazy" }');
    expect(await readFile(file, "utf8")).toContain("/* why */");
  });

  test("on, without ever having been off, writes nothing", async () => {
    await using world = await createWorld();
    await setServerEnabled(world.userFile, "a", true);
    await expect(readFile(world.userFile)).rejects.toThrow("ENOENT");
  });
});

describe("whose file it is", () => {
  const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

  test("decides who may read a new one; one that is there keeps its mode", async () => {
    await using world = await createWorld();
    const byHand = await modeOf(await world.folder.write("by hand", ""));
    await setServerEnabled(world.userFile, "a", false);
    await writeServer(world.workspaceFile, "a", { command: "x" }, { replace: false, within: world.root });
    expect([await modeOf(world.userFile), await modeOf(world.workspaceFile)]).toEqual([0o600, byHand]);
    await chmod(world.userFile, 0o640);
    await writeServer(world.userFile, "a", { command: "x" }, { replace: false });
    expect(await modeOf(world.userFile)).toBe(0o640);
  });

  test("decides how far links are followed: a workspace's write does not reach the user's settings", async () => {
    await using world = await createWorld();
    const file = await world.writeUser(text);
    await rm(join(world.root, ".gemini"), { recursive: true });
    await symlink("../home/.gemini", join(world.root, ".gemini"));
    const within = world.root;
    const edits = [
      () => writeServer(world.workspaceFile, "a", { command: "planted" }, { replace: true, within }),
      () => removeServer(world.workspaceFile, "a", { within }),
      () => setServerEnabled(world.workspaceFile, "a", false, { within }),
    ];
    for (const edit of edits)
      await expect(edit()).rejects.toMatchObject({ code: "denied", message: expect.stringContaining(file) });
    expect(await readFile(file, "utf8")).toBe(text);
  });
});

describe("a file that cannot be edited safely", () => {
  const rows: readonly [string, string, string][] = [
    ["has a syntax error", '{\n  "mcpServers": {,}\n}', ":2:18:"],
    ["is a list", "[]", ":1:1:"],
    ["has something else where the servers go", '{ "mcpServers": [], "fairlead": { "servers": { "a": 1 } } }', ":1:"],
  ];
  test.each(rows)("%s: refused with its place, and untouched", async (_what, content, place) => {
    await using world = await createWorld();
    const file = await world.writeUser(content);
    const edits = [
      () => writeServer(file, "a", { command: "x" }, { replace: true }),
      () => removeServer(file, "a"),
      () => setServerEnabled(file, "a", false),
      () => setServerEnabled(file, "a", true),
    ];
    for (const edit of edits)
      await expect(edit()).rejects.toMatchObject({
        code: "settings_invalid",
        message: expect.stringContaining(`${file}${place}`),
      });
    expect(await readFile(file, "utf8")).toBe(content);
  });
});
