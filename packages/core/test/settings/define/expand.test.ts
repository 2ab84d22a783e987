import { describe, expect, test } from "vitest";
import type { ServerDefinition, VariableUse } from "../../../src/settings/define/definition.ts";
import { expandAuthentication, expandTransport } from "../../../src/settings/define/expand.ts";
import { createWorld, said, serverOf, type World } from "../../support/load-settings.ts";

const noSecrets = async (): Promise<undefined> => undefined;

async function argsOf(args: readonly string[], env: Record<string, string>): Promise<unknown> {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { s: { command: "x", args } } });
  const { resolved } = serverOf(await world.load({ env }), "s").definition ?? {};
  return resolved?.kind === "stdio" ? resolved.args : resolved;
}

describe("variables", () => {
  const env = { A: "a", EMPTY: "", NESTED: "$A", _x1: "u", constructor: "c" };
  const rows: readonly [string, string][] = [
    ["$A", "a"],
    ["${A}", "a"],
    ["x$A-y", "xa-y"],
    ["$A$A", "aa"],
    ["${A}b", "ab"],
    ["$_x1", "u"],
    ["$constructor", "c"],
    ["${A:-d}", "a"],
    ["${B:-d}", "d"],
    ["${EMPTY:-d}", "d"],
    ["${B:-}", ""],
    ["${B:-a b:$/}", "a b:$/"],
    ["${EMPTY}", ""],
    ["$$A", "$A"],
    ["$$$A", "$a"],
    ["${A}$$", "a$"],
    ["$", "$"],
    ["a$", "a$"],
    ["$1 $- $(A)", "$1 $- $(A)"],
    ["$NESTED", "$A"],
    ["${secret:X}", "${secret:X}"],
    ["{A} %A% ~", "{A} %A% ~"],
  ];
  test.each(rows)("%s is %s", async (written, expected) => {
    expect(await argsOf([written], env)).toEqual([expected]);
  });

  test("are expanded in every key that the schema says, and in no other", async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServers: {
        stdio: { command: "/$A", args: ["$A"], env: { $A: "$A" }, cwd: "/$A", description: "$A", includeTools: ["$A"] },
        http: {
          url: "http://$A/",
          headers: { X: "$A" },
          oauth: { clientId: "$A", scopes: ["$A"], issuer: "http://$A" },
        },
      },
    });
    const settings = await world.load({ env: { A: "a" } });
    expect(serverOf(settings, "stdio").definition).toMatchObject({
      resolved: { kind: "stdio", command: "/a", args: ["a"], env: new Map([["$A", "a"]]), cwd: "/a" },
      description: "$A",
      includeTools: ["$A"],
    });
    const http = serverOf(settings, "http").definition as ServerDefinition;
    expect(http.resolved).toEqual({ kind: "http-or-sse", url: "http://a/", headers: new Map([["X", "a"]]) });
    expect(await expandAuthentication(http, noSecrets)).toEqual({
      provider: "oauth",
      oauth: { clientId: "a", scopes: ["a"], issuer: "http://a" },
    });
  });

  test("that are not set are a problem of their server, with name, place and a way out", async () => {
    await using world = await createWorld();
    await world.writeUser('{ "mcpServers": {\n  "s": { "command": "x",\n    "env": { "T": "${TOKEN}" } } } }');
    const server = serverOf(await world.load(), "s");
    expect(server.problems).toEqual([
      {
        severity: "error",
        code: "variable_unset",
        message: 'server "s": "env.T" uses the variable TOKEN, which is not set',
        origin: { scope: "user", file: world.userFile, line: 3, column: 19 },
        serverName: "s",
        next: "Set TOKEN in the environment or in ~/.gemini/.env, or write ${TOKEN:-default}.",
      },
    ]);
    expect(server.definition?.variables).toEqual([{ name: "TOKEN", from: "unset" }]);
    expect(server.definition?.resolved).toBeUndefined();
    await expect(expandTransport(server.definition as ServerDefinition, noSecrets)).rejects.toMatchObject({
      code: "variable_unset",
      serverName: "s",
    });
  });

  test.each(["FAIRLEAD_X", "GEMINI_CLI_X", "HOME"])(
    "that no .env file can set are not looked for in one: %s",
    async (name) => {
      await using world = await createWorld();
      await world.writeUser({ mcpServers: { s: { command: "x", args: [`$${name}`] } } });
      expect(serverOf(await world.load(), "s").problems.map(({ next }) => next)).toEqual([
        `Set ${name} in the environment, or write \${${name}:-default}.`,
      ]);
    },
  );

  test("include PWD, the workspace root, whatever the environment says", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: { command: "x", args: ["$PWD"] } } });
    const { definition } = serverOf(await world.load({ env: { PWD: "/elsewhere" } }), "s");
    expect(definition).toMatchObject({
      variables: [{ name: "PWD", from: "workspace-root" }],
      resolved: { args: [world.root] },
    });
  });
});

describe(".env files", () => {
  async function plant(world: World): Promise<void> {
    const entry = { command: "x", env: { HANDED_ON: "${V:-default}" } };
    await world.writeUser({ mcpServers: { user: entry } });
    await world.writeWorkspace({ mcpServers: { workspace: entry } });
  }
  async function sees(world: World, options: { trusted?: boolean; env?: Record<string, string> }) {
    const settings = await world.load(options);
    return Object.fromEntries(
      settings.servers.map(({ name, definition }) => {
        const use: VariableUse | undefined = definition?.variables[0];
        const { resolved } = definition ?? {};
        return [name, [resolved?.kind === "stdio" ? resolved.env.get("HANDED_ON") : undefined, use?.from]];
      }),
    );
  }

  test("count after the environment; the workspace's first for its own entries, last for all others", async () => {
    await using world = await createWorld();
    await plant(world);
    expect(await sees(world, {})).toEqual({ user: ["default", "default"], workspace: ["default", "default"] });
    await world.folder.write("workspace/.env", "V=workspace\n");
    expect(await sees(world, {})).toEqual({
      user: ["workspace", "workspace-env-file"],
      workspace: ["workspace", "workspace-env-file"],
    });
    await world.folder.write("home/.env", "V=home\n");
    expect(await sees(world, {})).toEqual({
      user: ["home", "user-env-file"],
      workspace: ["workspace", "workspace-env-file"],
    });
    await world.folder.write("home/.gemini/.env", "V='home gemini'\n");
    await world.folder.write("workspace/.gemini/.env", 'export V="workspace gemini"\n');
    expect(await sees(world, {})).toEqual({
      user: ["home gemini", "user-env-file"],
      workspace: ["workspace gemini", "workspace-env-file"],
    });
    expect(await sees(world, { env: { V: "process" } })).toEqual({
      user: ["process", "environment"],
      workspace: ["process", "environment"],
    });
    expect(await sees(world, { trusted: false })).toEqual({
      user: ["home gemini", "user-env-file"],
      workspace: [undefined, "not-looked-up"],
    });
  });

  test.each([
    { command: "${V:-x}" },
    { command: "x", args: ["${V:-x}"] },
    { command: "x", cwd: "/${V:-x}" },
    { url: "https://${V:-x}/" },
    { url: "https://h/", oauth: { tokenUrl: "https://${V:-x}/" } },
  ])("of a trusted workspace cannot decide what a user's entry runs or reaches: %j", async (entry) => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: entry } });
    expect(serverOf(await world.load(), "s").problems).toEqual([]);
    await world.folder.write("workspace/.env", "V=planted\n");
    const { problems, definition } = serverOf(await world.load(), "s");
    expect(problems.map(({ severity, code }) => [severity, code])).toEqual([["error", "variable_unset"]]);
    expect(definition?.resolved).toBeUndefined();
  });

  test("of an untrusted workspace feed nothing", async () => {
    await using world = await createWorld();
    await plant(world);
    await world.folder.write("workspace/.env", "V=planted\n");
    expect(await sees(world, { trusted: false })).toMatchObject({ user: ["default", "default"] });
  });

  test("cannot set what decides about settings, trust and state", async () => {
    await using world = await createWorld();
    await world.writeUser({
      mcpServers: { s: { command: "x", args: ["${HOME:-none}${FAIRLEAD_HOME:-none}${GEMINI_CLI_X:-none}"] } },
    });
    await world.folder.write(
      "home/.gemini/.env",
      "OK=1\nHOME=/evil\nFAIRLEAD_HOME=/evil\n\nexport GEMINI_CLI_X=evil\n",
    );
    const settings = await world.load();
    expect(serverOf(settings, "s").definition?.resolved).toMatchObject({ args: ["nonenonenone"] });
    expect(said(settings.problems)).toEqual(
      [
        ["2:1", "HOME"],
        ["3:1", "FAIRLEAD_HOME"],
        ["5:1", "GEMINI_CLI_X"],
      ].map(
        ([place, name]) =>
          `warning ${place} ${name} in a .env file is ignored: it has an effect only in the environment of the process`,
      ),
    );
  });

  test("that cannot be read are said to be so", async () => {
    await using world = await createWorld();
    await world.folder.write("workspace/.env/file", "");
    expect((await world.load()).problems).toEqual([
      expect.objectContaining({
        severity: "warning",
        message: `${world.root}/.env cannot be read: it is a folder, not a file`,
      }),
    ]);
    expect((await world.load({ trusted: false })).problems).toEqual([]);
  });
});

describe("a transport that is about to be used", () => {
  async function definitionOf(entry: object, env = {}): Promise<ServerDefinition> {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: entry } });
    return serverOf(await world.load({ env }), "s").definition as ServerDefinition;
  }
  const stored = new Map([
    ["T", "$A ${secret:U} ~"],
    ["BREAK", "x\r\nY: z"],
    ["WORD", "w"],
  ]);
  const secret = async (name: string): Promise<string | undefined> => stored.get(name);

  test("has its secrets filled in, once", async () => {
    const definition = await definitionOf(
      { command: "./x", args: ["~/y", "${secret:T}", "$A"], env: { T: "<${secret:T}>" } },
      { A: "${secret:T}" },
    );
    expect(definition.secrets).toEqual(["T"]);
    const home = definition.base.home;
    expect(await expandTransport(definition, secret)).toEqual({
      kind: "stdio",
      command: `${home}/x`,
      args: [`${home}/y`, "$A ${secret:U} ~", "${secret:T}"],
      env: new Map([["T", "<$A ${secret:U} ~>"]]),
    });
  });

  test("asks for a secret that is not stored, by name", async () => {
    const definition = await definitionOf({ url: "http://h", headers: { A: "${secret:NOPE}" } });
    await expect(expandTransport(definition, secret)).rejects.toMatchObject({
      code: "variable_unset",
      next: "fairlead secret set NOPE",
    });
  });

  test("is refused when a value would break out of its header, or leaves no URL, without showing it", async () => {
    const header = await definitionOf({ url: "http://h", headers: { A: "${secret:BREAK}" } });
    const variable = await definitionOf({ url: "http://h", headers: { A: "$V" } }, { V: "x\nB: y" });
    const url = await definitionOf({ url: "${secret:WORD}" });
    for (const definition of [header, variable, url])
      await expect(expandTransport(definition, secret)).rejects.toMatchObject({
        code: "settings_invalid",
        message: expect.not.stringMatching(/Y: z|B: y|"w"/),
      });
  });
});

test("an impersonated service account has nothing to expand", async () => {
  await using world = await createWorld();
  const authentication = { targetAudience: "a", targetServiceAccount: "$A" };
  await world.writeUser({
    mcpServers: { s: { url: "http://h", authProviderType: "sa-impersonation", ...authentication } },
  });
  const { definition } = serverOf(await world.load({ env: { A: "a" } }), "s");
  if (definition === undefined) throw new Error("there is no definition");
  expect(await expandAuthentication(definition, noSecrets)).toEqual({
    provider: "sa-impersonation",
    ...authentication,
  });
});
