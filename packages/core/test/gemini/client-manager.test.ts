import { EventEmitter } from "node:events";
import { programServer, stdioServer } from "@fairlead/test-servers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  discoverMcpTools,
  type MCPServerConfig,
  type McpClient,
  McpClientManager,
  PromptRegistry,
  ToolRegistry,
} from "../../src/gemini/index.ts";

const trusting = { isTrustedFolder: () => true };
const workspace = { getDirectories: () => [process.cwd()] };
const warnings: string[] = [];
const listen = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);

beforeEach(() => {
  warnings.length = 0;
  process.on("warning", listen);
});
afterEach(() => void process.off("warning", listen));

function managerOf(servers: Record<string, MCPServerConfig>, command?: string, emitter?: EventEmitter) {
  const [tools, prompts] = [new ToolRegistry(), new PromptRegistry()];
  return { tools, manager: new McpClientManager(servers, command, tools, prompts, false, workspace, emitter) };
}

test("connects to all servers side by side, and one that fails does not stop the others", async () => {
  const emitter = new EventEmitter();
  const statuses = new Map<string, string[]>();
  emitter.on("mcp-client-update", (clients: ReadonlyMap<string, McpClient>) => {
    for (const [name, client] of clients) {
      const seen = statuses.get(name) ?? [];
      if (seen.at(-1) !== client.getStatus()) statuses.set(name, [...seen, client.getStatus()]);
    }
  });
  const { command, args } = programServer("well-behaved");
  const { tools, manager } = managerOf(
    {
      one: stdioServer("well-behaved"),
      gone: programServer("exits", "3", "no key"),
      two: stdioServer("well-behaved"),
      off: { ...stdioServer("well-behaved"), disabled: true },
    },
    [command, ...args].join(" "),
    emitter,
  );
  expect(manager.getDiscoveryState()).toBe("not_started");
  const discovering = manager.discoverAllMcpTools(trusting);
  expect(manager.getDiscoveryState()).toBe("in_progress");
  await discovering;
  expect(manager.getDiscoveryState()).toBe("completed");
  // The first entry keeps the name, whichever server answered first.
  expect(tools.getAllToolNames()).toEqual(["echo", "two__echo", "mcp__echo"]);
  expect(manager.states().map(({ name, status }) => `${name} ${status}`)).toEqual([
    "one connected",
    "gone disconnected",
    "two connected",
    "mcp connected",
  ]);
  expect(manager.getClient("gone")?.state).toMatchObject({ reason: "server_exited", evidence: "no key" });
  await manager.stop();
  expect([tools.getAllToolNames(), manager.clients()]).toEqual([[], []]);
  const all = ["disconnected", "connecting", "connected", "disconnecting", "disconnected"];
  expect(Object.fromEntries(statuses)).toEqual({
    one: all,
    two: all,
    mcp: all,
    gone: ["disconnected", "connecting", "disconnected"],
  });
  expect(warnings).toEqual([
    expect.stringMatching(/^McpDiscoveryWarning: "gone" is not connected: .*exited with code 3/),
  ]);
});

test("in a folder that is not trusted nothing starts", async () => {
  const { tools, manager } = managerOf({ one: stdioServer("well-behaved") });
  await manager.discoverAllMcpTools({ isTrustedFolder: () => false });
  expect([manager.getDiscoveryState(), manager.clients(), tools.getAllTools()]).toEqual(["not_started", [], []]);
});

test("discovers again from the beginning, and its servers can be restarted, stopped and waited for by name", async () => {
  const { tools, manager } = managerOf({ one: stdioServer("well-behaved"), two: stdioServer("well-behaved") });
  await manager.discoverAllMcpTools(trusting);
  const first = manager.getClient("one");
  await manager.discoverAllMcpTools(trusting);
  expect(first?.getStatus()).toBe("disconnected");
  await manager.stop("one");
  expect(tools.getAllTools().map(({ serverName }) => serverName)).toEqual(["two"]);
  expect((await manager.ready("one"))?.getStatus()).toBe("connected");
  await manager.restart("two");
  await manager.start();
  expect(tools.getAllToolNames()).toEqual(["echo", "two__echo"]);
  await manager.stop();
});

test("discoverMcpTools does the same, and gives the manager that ends the servers", async () => {
  const [tools, prompts] = [new ToolRegistry(), new PromptRegistry()];
  const servers = { one: stdioServer("well-behaved") };
  const manager = await discoverMcpTools(servers, undefined, tools, prompts, false, workspace, trusting);
  expect(await tools.getTool("echo")?.execute({ text: "a" })).toMatchObject({ returnDisplay: "a" });
  await manager.stop();
  expect(tools.getAllTools()).toEqual([]);
});

describe("the arguments", () => {
  const good: readonly unknown[] = [
    {},
    undefined,
    new ToolRegistry(),
    new PromptRegistry(),
    false,
    workspace,
    new EventEmitter(),
  ];
  test.each<[string, number, unknown]>([
    ["mcpServers", 0, undefined],
    ["mcpServers.s", 0, { s: "command" }],
    ["mcpServerCommand", 1, 5],
    ["toolRegistry", 2, undefined],
    ["promptRegistry", 3, {}],
    ["debugMode", 4, undefined],
    ["workspaceContext", 5, {}],
    ["eventEmitter", 6, {}],
  ])("a wrong %s is a mistake of the program", (parameter, at, given) => {
    expect(() => Reflect.construct(McpClientManager, good.with(at, given)) as unknown).toThrow(
      expect.objectContaining({ name: "HostError", code: "usage", message: expect.stringContaining(`"${parameter}"`) }),
    );
  });

  test.each([[[]], [[{}]], [[{ servers: [{}] }]], [[{ servers: [{ client: {} }] }]]])("%j are too few", (list) => {
    expect(() => Reflect.construct(McpClientManager, list) as unknown).toThrow(
      expect.objectContaining({ name: "HostError", code: "usage" }),
    );
  });

  test("a manager of its own servers needs a configuration, and a command line without a shell", async () => {
    await expect(managerOf({}).manager.discoverAllMcpTools()).rejects.toMatchObject({
      code: "usage",
      message: 'discoverAllMcpTools(): "cliConfig" must be an object with isTrustedFolder(), not undefined',
    });
    expect(() => managerOf({}, "a | b")).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining('"mcpServerCommand"') }),
    );
  });
});
