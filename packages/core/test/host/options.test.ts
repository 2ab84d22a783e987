import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import {
  type CallAsModelOptions,
  createHost,
  type HostOptions,
  type MCPServerConfig,
  type SettingsObject,
} from "../../src/index.ts";
import { entrySchema } from "../../src/settings/schema/entry-schema.ts";

async function optionsIn(folder: TemporaryFolder): Promise<HostOptions> {
  await folder.write("home/notes.txt", "");
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  return { environment: { env, home, cwd: home, platform: process.platform }, recover: false };
}

/** As a program in JavaScript would call it. */
function createWith(options: unknown): Promise<unknown> {
  return Reflect.apply(createHost, undefined, [options]) as Promise<unknown>;
}

describe("settings as an object", () => {
  test("stand in place of the user's file: its servers run, those of the file are not there", async () => {
    await using folder = await temporaryFolder();
    await folder.write("home/.gemini/settings.json", { mcpServers: { other: stdioServer("well-behaved") } });
    const settings: SettingsObject = { mcpServers: { s: stdioServer("well-behaved") }, fairlead: { start: "lazy" } };
    await using host = await createHost({ ...(await optionsIn(folder)), settings });
    expect(host.states().map(({ name }) => name)).toEqual(["s", "demo"]);
    await host.start({ servers: ["s"] });
    expect(host.states()[0]).toMatchObject({ name: "s", status: "connected" });
    expect(host.problems()).toEqual([]);
  });

  test("a mistake in them is a problem of the settings option, and takes out its server only", async () => {
    await using folder = await temporaryFolder();
    const settings = { mcpServers: { bad: { comand: "x" }, good: stdioServer("well-behaved") } } as SettingsObject;
    await using host = await createHost({ ...(await optionsIn(folder)), settings });
    expect(host.states()).toMatchObject([
      { name: "bad", status: "disconnected", reason: "settings_invalid" },
      { name: "good" },
      { name: "demo" },
    ]);
    expect(host.problems().map(({ origin, serverName }) => [serverName, origin])).toContainEqual([
      "bad",
      { scope: "user", file: "settings option", line: 4, column: 7 },
    ]);
  });

  test("a relative command starts at the home folder, as in the user's file", async () => {
    await using folder = await temporaryFolder();
    const settings = { mcpServers: { s: { command: "./bin/none" } } };
    await using host = await createHost({ ...(await optionsIn(folder)), settings });
    await host.start({ servers: ["s"] });
    expect(host.states()[0]).toMatchObject({ reason: "command_not_found" });
    expect(JSON.stringify(host.states()[0])).toContain(join(folder.path, "home/bin/none"));
  });

  test("they count as they were, and a reload reads no file for them", async () => {
    await using folder = await temporaryFolder();
    const settings = { mcpServers: { s: { command: "x" } as MCPServerConfig } };
    await using host = await createHost({ ...(await optionsIn(folder)), settings, watch: true });
    settings.mcpServers.s = { command: "y" };
    await folder.write("home/.gemini/settings.json", { mcpServers: { other: { command: "z" } } });
    expect(await host.reload()).toEqual({ kept: ["s", "demo"], replaced: [], added: [], removed: [] });
  });

  test("a server switched off there is switched on there", async () => {
    await using folder = await temporaryFolder();
    const settings = { mcpServers: { s: { command: "x" } }, fairlead: { servers: { s: { enabled: false } } } };
    await using host = await createHost({ ...(await optionsIn(folder)), settings });
    expect(host.states()[0]).toMatchObject({
      status: "disabled",
      next: expect.stringContaining('Remove "enabled": false from fairlead.servers.s in settings option') as string,
    });
  });

  test("the type has every key of an entry", () => {
    const every: Required<MCPServerConfig> = {
      command: "",
      args: [],
      env: {},
      cwd: "",
      url: "",
      httpUrl: "",
      type: "stdio",
      transportType: "stdio",
      headers: {},
      timeout: 1,
      trust: false,
      disabled: false,
      sandboxEnabled: false,
      sandbox: {},
      description: "",
      includeTools: [],
      excludeTools: [],
      oauth: {},
      authProviderType: "oauth",
      targetAudience: "",
      targetServiceAccount: "",
    };
    expect(Object.keys(every).sort()).toEqual(Object.keys(entrySchema.properties).sort());
  });
});

describe("a wrong option", () => {
  test.each<[unknown, string]>([
    [5, "createHost() takes an object of options, not 5"],
    [null, "createHost() takes an object of options, not null"],
    [{ setings: "x" }, 'createHost() has no option "setings"; did you mean "settings"?'],
    [{ verbose: true }, 'createHost() has no option "verbose"'],
    [{ settings: 5 }, "createHost({ settings }) must be a path or an object { mcpServers, mcp?, fairlead? }, not 5"],
    [
      { settings: "" },
      "createHost({ settings }) must be a path or an object { mcpServers, mcp?, fairlead? }, not an empty string",
    ],
    [
      { settings: [] },
      "createHost({ settings }) must be a path or an object { mcpServers, mcp?, fairlead? }, not a list",
    ],
    [{ settings: { mcpServer: {} } }, 'createHost({ settings }) has no key "mcpServer"; did you mean "mcpServers"?'],
    [{ workspace: 1 }, "createHost({ workspace }) must be a path or false, not 1"],
    [{ workspace: true }, "createHost({ workspace }) must be a path or false, not true"],
    [{ trust: "yes" }, "createHost({ trust }) must be true or false, not a string"],
    [{ confirm: "x" }, "createHost({ confirm }) must be a function, not a string"],
    [{ approvalMode: "auto" }, 'createHost({ approvalMode }) must be "default", "plan" or "yolo", not a string'],
    [{ allow: ["demo.greet"] }, "createHost({ allow }) must be a list of { server, tool? }, not a list"],
    // A misspelt "tool" would allow the whole server.
    [
      { allow: [{ server: "demo", toolName: "greet" }] },
      "createHost({ allow }) must be a list of { server, tool? }, not a list",
    ],
    [{ model: {} }, "createHost({ model }) must be a model, with stream(), not an object"],
    [{ environment: {} }, "createHost({ environment }) must be an object { env, home, cwd, platform }, not an object"],
    [
      { environment: { env: { PATH: 5 }, home: "/h", cwd: "/h", platform: "linux" } },
      "createHost({ environment }) must be an object whose env has only strings as values, not an object",
    ],
    [{ approvalMode: ["plan"] }, 'createHost({ approvalMode }) must be "default", "plan" or "yolo", not a list'],
    [
      { approvalMode: { toString: () => "yolo" } },
      'createHost({ approvalMode }) must be "default", "plan" or "yolo", not an object',
    ],
    [
      { approvalMode: Object.create(null) },
      'createHost({ approvalMode }) must be "default", "plan" or "yolo", not an object',
    ],
    [{ startLimit: 1.5 }, "createHost({ startLimit }) must be a whole number above 0, not 1.5"],
    [
      { startLimit: Number.POSITIVE_INFINITY },
      "createHost({ startLimit }) must be a whole number above 0, not Infinity",
    ],
    [{ tokens: new Map() }, "createHost({ tokens }) must be an MCPOAuthTokenStorage, not an object"],
    [{ idleStop: Number.NaN }, "createHost({ idleStop }) must be a number of milliseconds above 0, not NaN"],
  ])("%j is named", async (options, message) => {
    await expect(createWith(options)).rejects.toMatchObject({ name: "HostError", code: "usage", message });
  });

  test("settings that JSON cannot hold are named", async () => {
    const circle: Record<string, unknown> = {};
    circle["mcpServers"] = circle;
    await expect(createWith({ settings: circle })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("createHost({ settings }) cannot be written as JSON: ") as string,
    });
  });

  test("an option that is undefined is as if it were not there", async () => {
    await using folder = await temporaryFolder();
    const host = await createWith({ ...(await optionsIn(folder)), settings: undefined, confirm: undefined });
    await (host as AsyncDisposable)[Symbol.asyncDispose]();
  });

  test("callAsModel and on name the option or the event that is wrong", async () => {
    await using folder = await temporaryFolder();
    await using host = await createHost({ ...(await optionsIn(folder)), settings: { mcpServers: {} } });
    for (const [options, message] of [
      [{ confrim: () => "cancel" }, 'callAsModel() has no option "confrim"; did you mean "confirm"?'],
      [{ confirm: "yes" }, "callAsModel({ confirm }) must be a function, not a string"],
      [{ signal: {} }, "callAsModel({ signal }) must be an AbortSignal, not an object"],
      [null, "callAsModel() takes an object of options, not null"],
    ] as const)
      await expect(
        host.callAsModel("demo__greet", { name: "Ada" }, options as object as CallAsModelOptions),
      ).rejects.toMatchObject({ name: "HostError", code: "usage", message });
    for (const [args, message] of [
      [["nonsense", () => {}], 'there is no event "nonsense"'],
      [["toString", () => {}], 'there is no event "toString"'],
      [["servers_", () => {}], 'there is no event "servers_"; did you mean "servers"?'],
      [[5, () => {}], "on() takes the name of an event, not 5"],
      [["state"], 'on("state") takes a function, not undefined'],
    ] as const)
      expect(() => Reflect.apply(host.on, host, args)).toThrow(
        expect.objectContaining({ name: "HostError", code: "usage", message }) as Error,
      );
    host.on("state", () => {})();
  });
});
