import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/limits.ts";
import { folderTrustEnabled, ideEnabled, readSources, whereWritten } from "../../../src/settings/read/load.ts";
import { createWorld, said, serverOf } from "../../support/load-settings.ts";

const command = (name: string): { command: string } => ({ command: name });

describe("entries of all scopes", () => {
  test("merge whole: the strongest counts, and what it shadows is known", async () => {
    await using world = await createWorld();
    await world.writeDefaults({ mcpServers: { a: command("defaults"), b: command("defaults") } });
    await world.writeUser({ mcpServers: { a: { command: "user", args: ["--user"] } } });
    await world.writeWorkspace({ mcpServers: { a: command("workspace") } });
    await world.writeSystem({ mcpServers: { b: command("system") } });
    const settings = await world.load();
    const a = serverOf(settings, "a");
    expect(a.scope).toBe("workspace");
    expect(a.definition?.transport).toEqual({ kind: "stdio", command: "workspace", args: [], env: new Map() });
    expect(a.shadows.map(({ scope }) => scope)).toEqual(["system-defaults", "user"]);
    expect(serverOf(settings, "b")).toMatchObject({ scope: "system", shadows: [{ scope: "system-defaults" }] });
  });

  test("keep the user file's order, then the workspace's, then the system's", async () => {
    await using world = await createWorld();
    await world.writeUser(
      '{ "mcpServers": { "z": {"command":"x"}, "10": {"command":"x"}, "2": {"command":"x"}, "a": {"command":"x"} } }',
    );
    await world.writeWorkspace({ mcpServers: { w: command("x"), a: command("x") } });
    await world.writeSystem({ mcpServers: { s: command("x"), z: command("x") } });
    await world.writeDefaults({ mcpServers: { d: command("x") } });
    const { servers } = await world.load();
    expect(servers.map(({ name }) => name)).toEqual(["z", "10", "2", "a", "w", "s", "d"]);
  });

  test("of an untrusted workspace shadow nothing, are listed under names that are free, and have no variables expanded", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { a: command("user") } });
    await world.writeWorkspace({
      mcpServers: { a: { command: "planted" }, w: { command: "$TOOL", args: ["$UNSET"] } },
    });
    await world.folder.write("workspace/.env", "TOOL=planted\n");
    const settings = await world.load({ trusted: false, env: { TOOL: "real" } });
    expect(serverOf(settings, "a")).toMatchObject({ scope: "user", shadows: [] });
    const w = serverOf(settings, "w");
    expect(w).toMatchObject({
      scope: "workspace",
      problems: [],
      definition: {
        variables: [
          { name: "TOOL", from: "not-looked-up" },
          { name: "UNSET", from: "not-looked-up" },
        ],
      },
    });
    expect(w.definition?.resolved).toBeUndefined();
    expect(settings.files.find(({ scope }) => scope === "workspace")?.state).toBe("ignored");
    expect(settings.problems).toEqual([]);
  });

  test("know where they were written", async () => {
    await using world = await createWorld();
    await world.writeUser('{\r\n  // note\r\n  "mcpServers": {\r\n    "a": { "command": "x" } } }');
    const { servers } = await world.load();
    expect(servers[0]?.origin).toEqual({ scope: "user", file: world.userFile, line: 4, column: 5 });
  });

  test("may have any name", async () => {
    await using world = await createWorld();
    const names = ["__proto__", "constructor", "toString", "a b", "日本", "x.y"];
    await world.writeUser(
      `{ "mcpServers": { ${names.map((name) => `"${name}": { "command": "run-${name}" }`).join()} } }`,
    );
    const { servers, problems } = await world.load();
    expect(servers.map(({ name, definition }) => [name, definition?.transport])).toEqual(
      names.map((name) => [name, { kind: "stdio", command: `run-${name}`, args: [], env: new Map() }]),
    );
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test("do not affect one another: of many mistaken ones each is named, the sound ones work", async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServers: {
        list: [],
        nothing: {},
        good: command("x"),
        number: 5,
        none: null,
        unset: { command: "x", args: ["$NO"] },
        fine: { url: "http://h/" },
      },
    });
    const { servers } = await world.load();
    const wrong = servers.filter(({ problems }) => problems.some(({ severity }) => severity === "error"));
    expect(wrong.map(({ name }) => name)).toEqual(["list", "nothing", "number", "none", "unset"]);
    expect(servers.filter(({ problems }) => problems.length === 0).map(({ name }) => name)).toEqual(["good", "fine"]);
  });
});

describe("mcp.serverCommand", () => {
  test("becomes the server mcp", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcp: { serverCommand: `node 'my $server.js' "$PORT" ~/x` } });
    const { definition, origin } = serverOf(await world.load({ env: { PORT: "80" } }), "mcp");
    expect(definition?.resolved).toEqual({
      kind: "stdio",
      command: "node",
      args: ["my $server.js", "80", join(world.home, "x")],
      env: new Map(),
    });
    expect(origin).toEqual({ scope: "user", file: world.userFile, line: 3, column: 22 });
  });

  test("yields to an entry of that name, with a warning", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { mcp: command("entry") } });
    await world.writeWorkspace({ mcp: { serverCommand: "line" } });
    const mcp = serverOf(await world.load(), "mcp");
    expect(mcp).toMatchObject({ scope: "user", kind: "stdio", definition: { transport: { command: "entry" } } });
    expect(said(mcp.problems)).toEqual(['warning 3:22 mcp.serverCommand has no effect: there is an entry named "mcp"']);
  });

  test("of an untrusted workspace does not take the place of the user's", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcp: { serverCommand: "mine" } });
    await world.writeWorkspace({ mcp: { serverCommand: "planted" } });
    expect(serverOf(await world.load({ trusted: false }), "mcp").definition?.transport).toMatchObject({
      command: "mine",
    });
  });

  test("with an operator in it is a mistake of that server only", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcp: { serverCommand: "a && b" }, mcpServers: { other: command("x") } });
    const settings = await world.load();
    expect(serverOf(settings, "mcp").definition).toBeUndefined();
    expect(said(settings.problems)).toEqual([
      'error 3:22 server "mcp": mcp.serverCommand has a mistake at character 3: "&" needs a shell',
    ]);
    expect(serverOf(settings, "other").definition).toBeDefined();
  });
});

describe("mcp.allowed and mcp.excluded", () => {
  test("intersect and unite, with their origins", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcp: { allowed: ["a", "b"], excluded: ["x"] } });
    await world.writeWorkspace({ mcp: { allowed: ["b", "c"], excluded: ["y"] } });
    const trusted = await world.load();
    expect([[...(trusted.allowed?.names ?? [])], [...trusted.excluded.names]]).toEqual([["b"], ["x", "y"]]);
    expect(trusted.allowed?.origins.map(({ file }) => file)).toEqual([world.userFile, world.workspaceFile]);
    const untrusted = await world.load({ trusted: false });
    expect([[...(untrusted.allowed?.names ?? [])], [...untrusted.excluded.names]]).toEqual([["a", "b"], ["x"]]);
  });

  test("absent allows all, empty allows none, and names compare exactly", async () => {
    await using world = await createWorld();
    expect((await world.load()).allowed).toBeUndefined();
    await world.writeUser({ mcp: { allowed: [] } });
    expect((await world.load()).allowed?.names).toEqual(new Set());
    await world.writeUser({ mcp: { allowed: ["A"] } });
    await world.writeSystem({ mcp: { allowed: ["a"] } });
    expect((await world.load()).allowed?.names).toEqual(new Set());
  });

  test("of the wrong type take the stricter reading", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcp: { allowed: "a", excluded: "b" } });
    const { allowed, excluded, problems } = await world.load();
    expect([allowed?.names, excluded.names]).toEqual([new Set(), new Set(["b"])]);
    expect(problems.map(({ severity }) => severity)).toEqual(["error", "error"]);
  });
});

test("every value knows where it was written", async () => {
  await using world = await createWorld();
  await world.writeUser('{\n  "fairlead": {\n    "start": "lazy",\n    "limits": { "callTotal": 5 } } }');
  await world.writeSystem('{ "fairlead": { "start": "background" } }');
  const sources = await readSources(await world.locate());
  expect(whereWritten(sources, "fairlead", "start")).toEqual([
    { scope: "user", file: world.userFile, line: 3, column: 14 },
    { scope: "system", file: world.systemFile, line: 1, column: 26 },
  ]);
  expect(whereWritten(sources, "fairlead", "limits", "callTotal")).toEqual([
    { scope: "user", file: world.userFile, line: 4, column: 30 },
  ]);
  expect(whereWritten(sources, "fairlead", "audit")).toEqual([]);
});

describe("a file that cannot be used", () => {
  test("is named with line and column, and only its scope is left out", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { a: command("x") } });
    await world.writeSystem('{\n  "mcpServers": { "s": { "command": "x" }\n  "mcp": {} }');
    const { servers, files, problems } = await world.load();
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(files.map(({ state }) => state)).toEqual(["absent", "read", "absent", "broken"]);
    expect(problems).toEqual([
      {
        severity: "error",
        code: "settings_invalid",
        message: expect.stringContaining(`${world.systemFile} is not valid JSON`),
        origin: { scope: "system", file: world.systemFile, line: 3, column: 3 },
        next: expect.stringContaining("line 3, column 3"),
      },
    ]);
  });

  const unusable: readonly [string, string, "broken" | "read", RegExp][] = [
    ["a list at the top", "[]", "broken", /must hold an object/],
    ["a blank file", " \n", "read", /is blank/],
    ["an empty file", "", "read", /is blank/],
    ["a file that is too deep", '{"a":'.repeat(limits.settingsDepth + 1), "broken", /nested/],
    ["a file that is far too deep", "[".repeat(1_000_000), "broken", /nested/],
    ["a file with too much in it", `{ "a": [${"1,".repeat(limits.settingsValues)}] }`, "broken", /more than/],
    ["a file that is too large", " ".repeat(limits.settingsBytes + 1), "broken", /larger/],
  ];
  test.each(unusable)("%s is said to be so", async (_what, text, state, message) => {
    await using world = await createWorld();
    await world.writeUser(text);
    const { files, problems } = await world.load();
    expect(files[1]?.state).toBe(state);
    expect(problems).toEqual([
      expect.objectContaining({
        severity: state === "read" ? "warning" : "error",
        message: expect.stringMatching(message),
      }),
    ]);
  });

  test("a file with as much in it as may be is read, and with one value more it is not", async () => {
    await using world = await createWorld();
    // The object, the member, its name and the list are values too.
    const many = "1,".repeat(limits.settingsValues - 4);
    await world.writeUser(`{ "theme": [${many}] }`);
    expect((await world.load()).files[1]?.state).toBe("read");
    await world.writeUser(`{ "theme": [${many}1] }`);
    const { files, problems } = await world.load();
    expect([files[1]?.state, problems[0]?.message]).toEqual([
      "broken",
      `${world.userFile} contains more than ${limits.settingsValues} values`,
    ]);
  });

  test("a folder in its place is no reason to fail", async () => {
    await using world = await createWorld();
    await mkdir(world.userFile, { recursive: true });
    const { files, problems } = await world.load();
    expect([files[1]?.state, problems[0]?.message]).toEqual([
      "broken",
      `${world.userFile} cannot be read: it is a folder, not a file`,
    ]);
  });

  test("a byte order mark, comments and trailing commas are no mistakes", async () => {
    await using world = await createWorld();
    await world.writeUser('\uFEFF{ /* a */ "mcpServers": { "a": { "command": "x", }, }, // b\n}');
    const { servers, problems } = await world.load();
    expect([servers.length, problems]).toEqual([1, []]);
  });
});

describe.each([
  ["folder trust", folderTrustEnabled, (enabled: unknown): object => ({ security: { folderTrust: { enabled } } })],
  ["the question to the IDE", ideEnabled, (enabled: unknown): object => ({ ide: { enabled } })],
])("%s", (_, isEnabled, content) => {
  const rows: readonly [string, { user?: unknown; workspace?: unknown; system?: unknown }, boolean][] = [
    ["is on by default", {}, true],
    ["can be switched off by the user", { user: false }, false],
    ["cannot be switched off by the workspace", { workspace: false }, true],
    ["is decided by the system over the user", { user: false, system: true }, true],
    ["stays on after a mistake", { user: "false" }, true],
  ];
  test.each(rows)("%s", async (_what, said, expected) => {
    await using world = await createWorld();
    if ("user" in said) await world.writeUser(content(said.user));
    if ("workspace" in said) await world.writeWorkspace(content(said.workspace));
    if ("system" in said) await world.writeSystem(content(said.system));
    expect(isEnabled(await readSources(await world.locate()))).toBe(expected);
  });
});
