import { describe, expect, test } from "vitest";
import { createWorld, said, serverOf } from "../../support/load-settings.ts";

test("without any file the defaults hold", async () => {
  await using world = await createWorld();
  const settings = await world.load();
  expect(settings).toEqual({
    files: [
      { scope: "system-defaults", file: world.defaultsFile, state: "absent" },
      { scope: "user", file: world.userFile, state: "absent" },
      { scope: "workspace", file: world.workspaceFile, state: "absent" },
      { scope: "system", file: world.systemFile, state: "absent" },
    ],
    servers: [],
    excluded: { names: new Set(), origins: [] },
    gates: [],
    gateProblems: [],
    switchedOff: new Map(),
    host: {
      start: "background",
      background: "auto",
      publicServerCards: false,
      registries: [],
      connectTimeout: 30_000,
      limits: { callTotal: 3_600_000, callsPerServer: 16, callsTotal: 64, catalogBytes: 64_000_000 },
      toolBudget: {},
      resultTokens: 8_000,
      resourceFunctions: true,
      permissions: { servers: new Map(), denyTools: [] },
      googleHosts: [],
      audit: { arguments: false },
      telemetry: { arguments: false, results: false },
      clients: new Map(),
      recording: true,
    },
    problems: [],
  });
});

test("any file switches the recording of conversations off, or hides the results of one server, and no file undoes it", async () => {
  await using world = await createWorld();
  const off = { fairlead: { recording: false, servers: { s: { hideResults: true } } } };
  const on = { fairlead: { recording: true, servers: { s: { hideResults: false } } } };
  await world.writeUser({ mcpServers: { s: { command: "x" } }, ...on });
  await world.writeWorkspace(off);
  await world.writeSystem(on);
  const settings = await world.load();
  expect([settings.host.recording, serverOf(settings, "s").definition?.extras.hideResults]).toEqual([false, true]);
});

test.each([
  [undefined, undefined, undefined],
  ["on", undefined, "on"],
  ["off", undefined, "off"],
  ["nonsense", undefined, undefined],
  [undefined, "on", undefined],
  [undefined, "off", "off"],
  ["on", "ask", undefined],
  ["on", "off", "off"],
  ["off", "on", "off"],
  ["ask", "on", undefined],
])("views of a server: the user says %s, the workspace %s", async (user, workspace, expected) => {
  await using world = await createWorld();
  const extras = (views: string | undefined): object => (views ? { fairlead: { servers: { s: { views } } } } : {});
  await world.writeUser({ mcpServers: { s: { command: "x" } }, ...extras(user) });
  await world.writeWorkspace(extras(workspace));
  expect(serverOf(await world.load(), "s").definition?.extras.views).toBe(expected);
});

test("views that the user has switched on for a server are asked about for a workspace's entry in its place", async () => {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { s: { command: "x" } }, fairlead: { servers: { s: { views: "on" } } } });
  await world.writeWorkspace({ mcpServers: { s: { command: "y" } } });
  expect(serverOf(await world.load(), "s").definition?.extras.views).toBeUndefined();
});

describe("limits", () => {
  test("can be raised by the person and lowered by a workspace, not raised by it", async () => {
    await using world = await createWorld();
    await world.writeUser({ fairlead: { connectTimeout: 50_000, limits: { callsTotal: 100 }, toolBudget: 9 } });
    await world.writeWorkspace({
      fairlead: { connectTimeout: 60_000, limits: { callsTotal: 50, callsPerServer: 17 }, toolBudget: 5 },
    });
    const { host, problems } = await world.load();
    expect(host).toMatchObject({
      connectTimeout: 50_000,
      limits: { callTotal: 3_600_000, callsPerServer: 16, callsTotal: 50, catalogBytes: 64_000_000 },
      toolBudget: { tokens: 5 },
    });
    expect(said(problems)).toEqual([
      'warning 3:23 "connectTimeout" is 60000, but a workspace may only lower this value; Fairlead uses 50000',
      'warning 6:25 "callsPerServer" is 17, but a workspace may only lower this value; Fairlead uses 16',
    ]);
  });

  test("that make no sense count for nothing", async () => {
    await using world = await createWorld();
    await world.writeUser({
      fairlead: {
        connectTimeout: -1,
        limits: { callTotal: "1h" },
        start: "now",
        clientMetadataUrl: "http://h",
        audit: { arguments: "no" },
      },
    });
    const { host, problems } = await world.load();
    expect(host).toMatchObject({
      connectTimeout: 30_000,
      limits: { callTotal: 3_600_000 },
      start: "background",
      audit: { arguments: false },
    });
    expect(host.clientMetadataUrl).toBeUndefined();
    expect(problems.map(({ severity }) => severity)).toEqual(Array(5).fill("error"));
  });
});

test("hosts that may have Google tokens unite, of user and system files", async () => {
  await using world = await createWorld();
  await world.writeDefaults({ fairlead: { googleHosts: ["a.example"] } });
  await world.writeUser({ fairlead: { googleHosts: ["*.b.example"] } });
  await world.writeSystem({ fairlead: { googleHosts: "c.example" } });
  const { host, problems } = await world.load();
  expect(host.googleHosts).toEqual(["a.example", "*.b.example"]);
  expect(problems).toHaveLength(1);
});

describe("permissions", () => {
  test("of a workspace only take away", async () => {
    await using world = await createWorld();
    await world.writeDefaults({ fairlead: { permissions: { servers: { a: ["0"] }, denyTools: ["d"] } } });
    await world.writeUser({ fairlead: { permissions: { servers: { a: ["1", "2"], b: ["3"] }, denyTools: ["x"] } } });
    await world.writeWorkspace({
      fairlead: { permissions: { servers: { a: ["2", "4"], c: ["5"] }, denyTools: ["y"] } },
    });
    const trusted = await world.load();
    expect(trusted.host.permissions).toEqual({
      servers: new Map([
        ["a", ["2"]],
        ["b", ["3"]],
        ["c", ["5"]],
      ]),
      denyTools: ["d", "x", "y"],
    });
    const untrusted = await world.load({ trusted: false });
    expect(untrusted.host.permissions).toEqual({
      servers: new Map([
        ["a", ["1", "2"]],
        ["b", ["3"]],
      ]),
      denyTools: ["d", "x"],
    });
  });
});

describe("extras of a server", () => {
  const all = { trustAnnotations: true, sampling: true, roots: true, baggage: true, issuerOverride: "https://i/" };
  const usual = { alwaysLoad: false, share: "auto" };
  const none = { trustAnnotations: false, sampling: false, roots: false };

  test("give privileges from user and system files, the strongest last", async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServers: { s: { command: "x" } },
      fairlead: { servers: { s: { ...all, start: "lazy" } } },
    });
    expect(serverOf(await world.load(), "s").definition?.extras).toEqual({ ...all, start: "lazy", ...usual });
    await world.writeSystem({ fairlead: { servers: { s: { sampling: false } } } });
    expect(serverOf(await world.load(), "s").definition?.extras).toMatchObject({ ...all, sampling: false });
  });

  test("give no privileges from a workspace file, trusted or not", async () => {
    await using world = await createWorld();
    await world.writeWorkspace({
      mcpServers: { s: { command: "x" } },
      fairlead: {
        servers: { s: all },
        audit: { arguments: true },
        clientMetadataUrl: "https://h/",
        googleHosts: ["planted.example"],
      },
    });
    const settings = await world.load();
    expect(serverOf(settings, "s").definition?.extras).toEqual({ ...none, start: "background", ...usual });
    expect(settings.host).toMatchObject({ audit: { arguments: false }, googleHosts: [] });
    expect(
      said(settings.problems).filter((line) => line.includes("applies only in user or system settings")).length,
    ).toBe(8);
  });

  test("do not pass to an entry by which a workspace replaces the one they were given to", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: { command: "mine" } }, fairlead: { servers: { s: all } } });
    await world.writeWorkspace({ mcpServers: { s: { command: "theirs" }, t: { command: "theirs" } } });
    const s = serverOf(await world.load(), "s");
    expect(s.definition?.extras).toEqual({ ...none, start: "background", ...usual });
    expect(s.problems.map(({ severity, message }) => `${severity} ${message}`)).toEqual(
      Object.keys(all).map(
        (key) =>
          `warning server "s": "${key}" was granted to your entry, so it does not apply to the workspace entry that replaces it`,
      ),
    );
  });

  test("given to a server of the workspace by the user, by a name that is only the workspace's, count", async () => {
    await using world = await createWorld();
    await world.writeUser({ fairlead: { servers: { w: { sampling: true } } } });
    await world.writeWorkspace({ mcpServers: { w: { command: "x" } } });
    expect(serverOf(await world.load(), "w").definition?.extras.sampling).toBe(true);
  });

  test("switch a server off from any file that counts", async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServers: { a: { command: "x" }, b: { command: "x" } },
      fairlead: { servers: { a: { enabled: false } } },
    });
    await world.writeWorkspace({ fairlead: { servers: { a: { enabled: true }, b: { enabled: false } } } });
    const states = async (trusted: boolean) =>
      (await world.load({ trusted })).servers.map(({ enabled, disabledBy }) => ({ enabled, disabledBy }));
    const byUser = { scope: "user", file: world.userFile, line: 13, column: 20 };
    const byWorkspace = { scope: "workspace", file: world.workspaceFile, line: 8, column: 20 };
    const on = { enabled: true, disabledBy: undefined };
    expect(await states(true)).toEqual([
      { enabled: false, disabledBy: byUser },
      { enabled: false, disabledBy: byWorkspace },
    ]);
    expect(await states(false)).toEqual([{ enabled: false, disabledBy: byUser }, on]);
    await world.writeSystem({ fairlead: { servers: { a: { enabled: false } } } });
    expect((await states(true))[0]?.disabledBy).toMatchObject({ file: world.systemFile });
  });

  test("with a mistake take the server out, unless they do not count", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: { command: "x" } } });
    await world.writeWorkspace({ fairlead: { servers: { s: { enabled: "no" } } } });
    const trusted = serverOf(await world.load(), "s");
    expect([trusted.definition, said(trusted.problems)]).toEqual([
      undefined,
      ['error 5:20 server "s": "enabled" must be true or false, not text'],
    ]);
    const untrusted = await world.load({ trusted: false });
    expect(serverOf(untrusted, "s")).toMatchObject({ problems: [], enabled: true });
    expect(untrusted.problems).toEqual([expect.not.objectContaining({ serverName: "s" })]);
  });
});

describe("profiles of clients", () => {
  test("come from the person's files, the strongest as a whole, and never from a workspace", async () => {
    await using world = await createWorld();
    await world.writeUser({
      fairlead: {
        clients: {
          codex: { servers: ["a"], tools: ["a.*"], toolBudget: 500 },
          cursor: { toolBudget: { tokens: 9, tools: 3 } },
        },
      },
    });
    await world.writeWorkspace({ fairlead: { clients: { codex: { servers: ["planted"] }, other: { servers: [] } } } });
    const clients = async () => Object.fromEntries((await world.load()).host.clients);
    expect(await clients()).toEqual({
      codex: { servers: ["a"], tools: ["a.*"], toolBudget: { tokens: 500 } },
      cursor: { toolBudget: { tokens: 9, tools: 3 } },
    });
    await world.writeSystem({ fairlead: { clients: { codex: { tools: [] } } } });
    expect((await clients())["codex"]).toEqual({ tools: [] });
  });

  test("with a list of the wrong type give access to nothing, and say so", async () => {
    await using world = await createWorld();
    await world.writeUser({ fairlead: { clients: { codex: { servers: "a", tools: 7 } } } });
    const { host, problems } = await world.load();
    expect(host.clients.get("codex")).toEqual({ servers: [], tools: [] });
    expect(said(problems)).toEqual([
      expect.stringContaining('"servers" must be a list'),
      expect.stringContaining('"tools" must be a list'),
    ]);
  });
});
