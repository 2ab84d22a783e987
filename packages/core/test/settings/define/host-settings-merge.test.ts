import { expect, test } from "vitest";
import { createWorld, said, serverOf } from "../../support/load-settings.ts";

const fairlead = (settings: object): object => ({ fairlead: settings });

test("every setting of the user's file arrives", async () => {
  await using world = await createWorld();
  await world.writeUser(
    fairlead({
      start: "lazy",
      background: "off",
      connectTimeout: 1,
      limits: { callTotal: 2, callsPerServer: 3, callsTotal: 4, catalogBytes: 1024 },
      permissions: { servers: { s: ["read"] }, denyTools: ["pay"] },
      toolBudget: { tokens: 5, tools: 6 },
      contextTokens: 1000,
      resultTokens: 100,
      resourceFunctions: false,
      clientMetadataUrl: "https://h/client.json",
      googleHosts: ["h"],
      registries: ["https://registry.example"],
      publicServerCards: true,
      audit: { arguments: true },
      telemetry: { arguments: true, results: true },
      recording: false,
      clients: { c: { tools: [], toolBudget: { tools: 7 } } },
    }),
  );
  const { host, problems } = await world.load();
  expect(problems).toEqual([]);
  expect(host).toEqual({
    start: "lazy",
    background: "off",
    connectTimeout: 1,
    limits: { callTotal: 2, callsPerServer: 3, callsTotal: 4, catalogBytes: 1024 },
    permissions: { servers: new Map([["s", ["read"]]]), denyTools: ["pay"] },
    toolBudget: { tokens: 5, tools: 6 },
    contextTokens: 1000,
    resultTokens: 100,
    resourceFunctions: false,
    clientMetadataUrl: "https://h/client.json",
    googleHosts: ["h"],
    registries: ["https://registry.example"],
    publicServerCards: true,
    audit: { arguments: true },
    telemetry: { arguments: true, results: true },
    recording: false,
    clients: new Map([["c", { tools: [], toolBudget: { tools: 7 } }]]),
  });
});

test("the origin of an entry counts only in the entry's own file", async () => {
  await using world = await createWorld();
  const origin = { registry: "https://r.example", name: "a.b/c", version: "1.0.0", kind: "npm", inputs: { x: "1" } };
  await world.writeUser({ mcpServers: { c: { command: "run" } }, fairlead: { servers: { c: { origin } } } });
  await world.writeWorkspace(fairlead({ servers: { c: { origin: { ...origin, name: "evil/c" } } } }));

  const { servers } = await world.load();

  expect(servers[0]?.definition?.extras.origin).toEqual(origin);
});

test("of the person's files the strongest one counts, also over the workspace where it may set a value", async () => {
  await using world = await createWorld();
  const all = (value: string, flag: boolean, number: number): object =>
    fairlead({
      start: value,
      connectTimeout: number,
      audit: { arguments: flag },
      resourceFunctions: flag,
      clientMetadataUrl: `https://${value}/`,
    });
  await world.writeDefaults(all("lazy", true, 500));
  await world.writeUser(all("background", false, 700));
  const picked = async () => {
    const { start, connectTimeout, audit, resourceFunctions, clientMetadataUrl } = (await world.load()).host;
    return [start, connectTimeout, audit.arguments, resourceFunctions, clientMetadataUrl];
  };
  expect(await picked()).toEqual(["background", 700, false, false, "https://background/"]);
  await world.writeWorkspace(fairlead({ start: "lazy" }));
  expect(await picked()).toEqual(["lazy", 700, false, false, "https://background/"]);
  await world.writeSystem(all("background", true, 900));
  expect(await picked()).toEqual(["background", 900, true, true, "https://background/"]);
});

test("a workspace may keep a limit as it is without a warning, and switch resource functions off but not on", async () => {
  await using world = await createWorld();
  await world.writeWorkspace(
    fairlead({ connectTimeout: 30_000, resourceFunctions: false, contextTokens: 5000, toolBudget: { tools: 9 } }),
  );
  const lowered = await world.load();
  expect(lowered.problems).toEqual([]);
  expect(lowered.host).toMatchObject({
    connectTimeout: 30_000,
    resourceFunctions: false,
    contextTokens: 5000,
    toolBudget: { tools: 9 },
  });
  await world.writeUser(fairlead({ resourceFunctions: false, contextTokens: 4000 }));
  await world.writeWorkspace(fairlead({ resourceFunctions: true, contextTokens: 5000 }));
  const kept = await world.load();
  expect([kept.host.resourceFunctions, kept.host.contextTokens]).toEqual([false, 4000]);
  expect(said(kept.problems)).toEqual([
    'warning 4:22 "contextTokens" is 5000, but a workspace may only lower this value; Fairlead uses 4000',
  ]);
});

test("a server must be allowed by every one of three files, and one of them is enough to exclude it", async () => {
  await using world = await createWorld();
  await world.writeDefaults({ mcp: { allowed: ["a", "b", "c"], excluded: "x" } });
  await world.writeUser({ mcp: { allowed: ["c", "a"], excluded: ["y", 7] } });
  await world.writeSystem({ mcp: { allowed: ["b", "a"] } });
  const { allowed, excluded } = await world.load();
  expect(allowed).toEqual({
    names: new Set(["a"]),
    origins: [
      { scope: "system-defaults", file: world.defaultsFile, line: 3, column: 16 },
      { scope: "user", file: world.userFile, line: 3, column: 16 },
      { scope: "system", file: world.systemFile, line: 3, column: 16 },
    ],
  });
  expect(excluded).toEqual({
    names: new Set(["x", "y"]),
    origins: [
      { scope: "system-defaults", file: world.defaultsFile, line: 8, column: 17 },
      { scope: "user", file: world.userFile, line: 7, column: 17 },
    ],
  });
});

test("the options of a server come from the strongest file that has them", async () => {
  await using world = await createWorld();
  const options = (s: object): object => fairlead({ servers: { s } });
  const extras = async () => serverOf(await world.load(), "s").definition?.extras;
  const first = {
    start: "lazy",
    trustAnnotations: true,
    sampling: true,
    roots: true,
    alwaysLoad: true,
    share: "client",
    issuerOverride: "https://defaults/",
  };
  await world.writeDefaults(options(first));
  await world.writeUser({ mcpServers: { s: { url: "https://h/" } }, ...options({ roots: false }) });
  const usual = { ...first, roots: false };
  expect(await extras()).toEqual(usual);
  await world.writeWorkspace(options({ alwaysLoad: false, share: "all", start: "background" }));
  expect(await extras()).toEqual({ ...usual, alwaysLoad: false, start: "background" });
  await world.writeSystem(
    options({ alwaysLoad: true, share: "all", start: "lazy", issuerOverride: "https://system/", sampling: false }),
  );
  expect(await extras()).toEqual({ ...usual, share: "all", issuerOverride: "https://system/", sampling: false });
});
