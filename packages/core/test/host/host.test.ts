import { type TemporaryFolder, temporaryFolder, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost, type HostOptions, type ServerState } from "../../src/index.ts";
import { manualClock } from "../support/manual-clock.ts";

/** A home with these user settings, a workspace with those. */
async function testHost(folder: TemporaryFolder, { user = {}, workspace = {} }, options: HostOptions = {}) {
  await folder.write("home/.gemini/settings.json", user);
  await folder.write("work/.gemini/settings.json", workspace);
  const environment = {
    env: {
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder.path}/none.json`,
      GEMINI_CLI_SYSTEM_DEFAULTS_PATH: `${folder.path}/none.json`,
    },
    home: `${folder.path}/home`,
    cwd: `${folder.path}/work`,
    platform: process.platform,
  };
  return createHost({ environment, ...options });
}

const demoLazy = { name: "demo", status: "disconnected", reason: "lazy" };
const demoConnected = {
  name: "demo",
  status: "connected",
  peer: {
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "fairlead-demo", version: "1.0.0", title: "Fairlead's demo server" },
  },
};
const offer = { tools: 6, prompts: 1, resources: 2, resourceTemplates: 1 };

/** Leaving aside since when. */
const plain = ({ since: _since, ...state }: ServerState): object => state;

test("with nothing configured there is the demo server, connected by start", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, {});
  expect(host.states().map(plain)).toEqual([demoLazy]);
  expect(host.getDiscoveryState()).toBe("not_started");
  expect(host.tools()).toEqual([]);
  await host.start();
  expect(host.states().map(plain)).toEqual([{ ...demoConnected, offer }]);
  expect(host.getDiscoveryState()).toBe("completed");
  expect(host.tools().map(({ name }) => name)).toEqual([
    "demo__greet",
    "demo__picture",
    "demo__statistics",
    "demo__count",
    "demo__wait",
    "demo__fail",
  ]);
  expect(host.tools("demo").find(({ serverToolName }) => serverToolName === "fail")).toEqual({
    name: "demo__fail",
    server: "demo",
    serverToolName: "fail",
    title: "Fail on purpose",
    description: "Report an error, as a tool does when it fails.",
    parametersJsonSchema: {
      type: "object",
      properties: {
        reason: { type: "string", description: 'the reason to report\nDefault: "this is a test".' },
      },
    },
    repairs: [
      expect.objectContaining({ path: "/properties/reason", keyword: "default", action: "moved" }),
      expect.objectContaining({ path: "", keyword: "additionalProperties", action: "removed" }),
    ],
    inputSchema: {
      type: "object",
      properties: {
        reason: { type: "string", description: "the reason to report", default: "this is a test" },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    decision: "ask_user",
  });
  expect(host.prompts().map(({ server, name }) => [server, name])).toEqual([["demo", "demo__teach"]]);
  expect(
    host.resources().map((resource) => (resource.kind === "template" ? resource.uriTemplate : resource.uri)),
  ).toEqual(["demo://about", "demo://picture", "demo://knots/{name}"]);
  expect(host.resources()[0]).toEqual({
    kind: "resource",
    uri: "demo://about",
    server: "demo",
    name: "about",
    title: "About this server",
    description: "What a fairlead is.",
    mimeType: "text/plain",
  });
  expect(host.catalog("demo")).toMatchObject({
    instructions: expect.stringContaining("Nothing here touches files") as string,
    dropped: [],
  });
});

test("a call connects its server by itself and returns what the tool answered", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, {});
  expect(await host.call("demo", "greet", { name: "Ada" })).toEqual({
    content: [{ type: "text", text: "Hello, Ada!" }],
    isError: false,
  });
  expect(await host.call("demo", "fail")).toEqual({
    content: [{ type: "text", text: "This tool failed: this is a test" }],
    isError: true,
  });
  expect(await host.call("demo", "statistics", { text: "ahoy" })).toMatchObject({
    structuredContent: { characters: 4, words: 1, lines: 1, longestWord: "ahoy" },
  });
});

test("events tell every change of state, in order, until one stops listening", async () => {
  await using folder = await temporaryFolder();
  const host = await testHost(folder, {});
  const seen: object[] = [];
  host.on("state", ({ state }) => seen.push(plain(state)));
  const stop = host.on("discovery", (event) => seen.push(event));
  await Promise.all([host.start(), host.call("demo", "greet", { name: "Ada" })]);
  stop();
  await host.start();
  await host[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  expect(seen).toEqual([
    { type: "discovery", state: "in_progress" },
    { name: "demo", status: "connecting" },
    demoConnected,
    { ...demoConnected, offer },
    { type: "discovery", state: "completed" },
    { name: "demo", status: "disconnecting" },
    demoLazy,
  ]);
});

test("a start may be left; a host that is closed then leaves nothing behind", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, {});
  await expect(host.start({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "cancelled" });
  await host[Symbol.asyncDispose]();
  expect(host.states().map(plain)).toEqual([demoLazy]);
});

describe("a call that goes nowhere says why", () => {
  const servers = {
    github: { httpUrl: "https://mcp.example.com" },
    nowhere: { command: "/nowhere/at/all" },
    off: { command: "off" },
    out: { command: "out" },
  };
  const user = {
    mcpServers: { ...servers, broken: { command: 7 } },
    mcp: { excluded: ["out"] },
    fairlead: { servers: { off: { enabled: false } } },
  };
  const workspace = { mcpServers: { local: { command: "local" } } };

  test.each([
    ["githb", "x", "server_unknown", /^there is no server "githb"; did you mean "github"\?$/],
    ["demo", "gret", "tool_unknown", /^"demo" has no tool "gret"; did you mean "greet"\?$/],
    ["nowhere", "x", "command_not_found", /^"nowhere" did not start: /],
    ["off", "x", "denied", /off/],
    ["out", "x", "denied", /mcp\.excluded/],
    ["broken", "x", "settings_invalid", /command/],
    ["local", "x", "untrusted_folder", /not trusted/],
  ])("%s.%s: %s", async (server, tool, code, message) => {
    await using folder = await temporaryFolder();
    await using host = await testHost(folder, { user, workspace });
    const error = expect.objectContaining({
      name: "HostError",
      code,
      message: expect.stringMatching(message) as string,
    }) as Error;
    await expect(host.call(server, tool, {})).rejects.toEqual(error);
  });

  test("in a trusted folder a server still waits for approval", async () => {
    await using folder = await temporaryFolder();
    await using host = await testHost(folder, { user, workspace }, { trust: true });
    await expect(host.call("local", "x")).rejects.toMatchObject({
      code: "awaiting_approval",
      next: "fairlead trust add",
    });
  });

  test.each([[[]], [null], ["name=Ada"], [7]])("arguments that are no object: %j", async (args) => {
    await using folder = await temporaryFolder();
    await using host = await testHost(folder, {});
    await expect(host.call("demo", "greet", args)).rejects.toMatchObject({
      code: "arguments_invalid",
      message: "Invalid parameters: must be an object",
    });
  });

  test("a host that is closed", async () => {
    await using folder = await temporaryFolder();
    const host = await testHost(folder, {});
    await host[Symbol.asyncDispose]();
    await expect(host.call("demo", "greet")).rejects.toMatchObject({
      code: "usage",
      message: "this host has been closed",
    });
    await expect(host.start()).rejects.toMatchObject({ code: "usage" });
  });
});

describe("a call that takes too long", () => {
  test("is cancelled by its signal", async () => {
    await using folder = await temporaryFolder();
    await using host = await testHost(folder, {});
    const stop = new AbortController();
    const counting = host.call("demo", "count", { pause: 1 }, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(counting).rejects.toMatchObject({
      code: "cancelled",
      message: "demo.count: the request was cancelled",
    });
  });

  test("runs into its timeout", async () => {
    await using folder = await temporaryFolder();
    const clock = manualClock();
    await using host = await testHost(folder, {}, { clock });
    await host.start();
    const atRest = clock.pending();
    const waiting = expect(host.call("demo", "wait", { seconds: 60 }, { timeout: 500 })).rejects.toMatchObject({
      code: "call_timeout",
      message: "demo.wait timed out: no answer within 500 ms; the request may or may not have run",
    });
    await until(() => clock.pending() > atRest);
    await clock.pass(500);
    await waiting;
  });

  test("ends with the limit of the settings, even while it makes progress", async () => {
    await using folder = await temporaryFolder();
    const clock = manualClock();
    await using host = await testHost(folder, { user: { fairlead: { limits: { callTotal: 2500 } } } }, { clock });
    await host.start();
    const atRest = clock.pending();
    const counting = expect(host.call("demo", "count", { pause: 1000 })).rejects.toMatchObject({
      code: "call_timeout",
      message: "demo.count timed out: no answer within 2500 ms; the request may or may not have run",
    });
    await until(() => clock.pending() > atRest);
    await clock.pass(2500);
    await counting;
  });

  test("is cancelled when the host is closed meanwhile", async () => {
    await using folder = await temporaryFolder();
    const clock = manualClock();
    const host = await testHost(folder, {}, { clock });
    await host.start();
    const atRest = clock.pending();
    const waiting = expect(host.call("demo", "wait")).rejects.toMatchObject({ code: "cancelled" });
    await until(() => clock.pending() > atRest);
    await host[Symbol.asyncDispose]();
    await waiting;
  });
});

test("configured servers stand in settings order before the demo server, which then waits to be named or used", async () => {
  await using folder = await temporaryFolder();
  const user = { mcpServers: { b: { command: "/nowhere/b" }, a: { command: "/nowhere/a" } } };
  await using host = await testHost(folder, { user });
  await host.start();
  const standing = () => host.states().map((state) => [state.name, state.status, "reason" in state && state.reason]);
  const ended = [
    ["b", "disconnected", "command_not_found"],
    ["a", "disconnected", "command_not_found"],
  ];
  expect(standing()).toEqual([...ended, ["demo", "disconnected", "lazy"]]);
  await host.start({ servers: ["demo"] });
  expect(standing()).toEqual([...ended, ["demo", "connected", false]]);
  expect(host.tools()).toEqual([]);
  expect(host.tools("b")).toEqual([]);
  expect(host.tools("demo")).toHaveLength(6);
  expect(() => host.tools("c")).toThrow('there is no server "c"');
  await expect(host.start({ servers: ["c"] })).rejects.toMatchObject({ code: "server_unknown" });
});

test("the demo server's tools are listed by its name, whatever else is configured and before it starts", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, { user: { mcpServers: { a: { command: "/nowhere/a" } } } });
  await host.start();
  const listed = () => [host.tools("demo"), host.prompts("demo"), host.resources("demo")];
  const early = listed();
  expect(early.map(({ length }) => length)).toEqual([6, 1, 3]);
  expect(host.tools()).toEqual([]);
  await host.start({ servers: ["demo"] });
  expect(listed()).toEqual(early);
});

test("an excluded demo server lists nothing", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, { user: { mcp: { excluded: ["demo"] } } });
  await host.start();
  expect(host.tools("demo")).toEqual([]);
});

test("an entry named demo takes the demo server's place", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, { user: { mcpServers: { demo: { command: "/nowhere/mine" } } } });
  await host.start();
  expect(host.states()).toMatchObject([{ name: "demo", status: "disconnected", reason: "command_not_found" }]);
  expect(host.tools("demo")).toEqual([]);
  await expect(host.call("demo", "greet", { name: "Ada" })).rejects.toMatchObject({ code: "command_not_found" });
});

test("two hosts live in one process and share nothing", async () => {
  await using one = await temporaryFolder();
  await using two = await temporaryFolder();
  await using first = await testHost(one, {});
  const second = await testHost(two, {});
  await Promise.all([first.start(), second.start()]);
  await second[Symbol.asyncDispose]();
  expect(second.states().map(plain)).toEqual([demoLazy]);
  expect(first.states().map(plain)).toEqual([{ ...demoConnected, offer }]);
  expect(await first.call("demo", "greet", { name: "Ada" })).toMatchObject({ isError: false });
});

describe("options choose what is read", () => {
  const user = { mcpServers: { user: { command: "u" } } };
  const workspace = { mcpServers: { workspace: { command: "w" } } };
  const names = async (folder: TemporaryFolder, options: HostOptions): Promise<string[]> => {
    await using host = await testHost(folder, { user, workspace }, options);
    return host.states().map(({ name }) => name);
  };

  test("another settings file, another workspace, no workspace", async () => {
    await using folder = await temporaryFolder();
    const settings = await folder.write("other.json", { mcpServers: { other: { command: "o" } } });
    await folder.write("elsewhere/.gemini/settings.json", { mcpServers: { elsewhere: { command: "e" } } });
    expect(await names(folder, {})).toEqual(["user", "workspace", "demo"]);
    expect(await names(folder, { settings })).toEqual(["other", "workspace", "demo"]);
    expect(await names(folder, { workspace: `${folder.path}/elsewhere` })).toEqual(["user", "elsewhere", "demo"]);
    expect(await names(folder, { workspace: false })).toEqual(["user", "demo"]);
  });
});

describe("the demo server", () => {
  const greet = ["demo", "greet", { name: "Ada" }] as const;

  test("is not taken away by a folder that is not trusted", async () => {
    await using folder = await temporaryFolder();
    const workspace = { mcpServers: { demo: { command: "planted" } } };
    await using host = await testHost(folder, { workspace });
    expect(await host.call(...greet)).toMatchObject({ isError: false });
  });

  test("gives way to an entry of that name that counts", async () => {
    await using folder = await temporaryFolder();
    await using host = await testHost(folder, { user: { mcpServers: { demo: { command: "no-such-program" } } } });
    await expect(host.call(...greet)).rejects.toMatchObject({ code: "command_not_found" });
  });

  test.each([
    [{ mcp: { allowed: [] } }, "mcp.allowed"],
    [{ mcp: { excluded: ["demo"] } }, "mcp.excluded"],
    [{ fairlead: { permissions: { denyTools: ["greet"] } } }, "fairlead.permissions.denyTools"],
    [{ fairlead: { permissions: { servers: { demo: ["count"] } } } }, "fairlead.permissions.servers.demo"],
  ])("obeys %j", async (user, setting) => {
    await using folder = await temporaryFolder();
    await using host = await testHost(folder, { user });
    const refused = await host.call(...greet).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "denied" });
    expect(String(refused)).toContain(setting);
  });
});

test("the demo server obeys its switch in the settings", async () => {
  await using folder = await temporaryFolder();
  await using host = await testHost(folder, { user: { fairlead: { servers: { demo: { enabled: false } } } } });
  await host.start();
  const message = expect.stringMatching(/^"demo" is disabled: fairlead\.servers\.demo\.enabled is false in .*:\d+$/);
  expect(host.states()).toMatchObject([{ name: "demo", status: "disabled", reason: "user", message }]);
  await expect(host.call("demo", "greet", { name: "x" })).rejects.toMatchObject({
    code: "denied",
    message,
    next: "fairlead mcp enable demo",
  });
});

test("a server of the user's own that would run in a folder that is not trusted is blocked, each time it is tried", async () => {
  await using folder = await temporaryFolder();
  const user = { mcpServers: { inside: { command: process.execPath, cwd: "$PWD" } } };
  await using host = await testHost(folder, { user, workspace: {} });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(host.call("inside", "x")).rejects.toMatchObject({ code: "untrusted_folder" });
    expect(host.states()[0]).toMatchObject({ status: "blocked", reason: "untrusted_folder" });
  }
});
