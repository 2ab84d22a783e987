import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host, type HostOptions, ToolConfirmationOutcome } from "../../src/index.ts";

async function workspaceHost(
  folder: TemporaryFolder,
  options: HostOptions = {},
  mcpServers: object = { a: stdioServer("well-behaved"), b: stdioServer("well-behaved") },
): Promise<Host> {
  const [home, cwd] = [join(folder.path, "home"), join(folder.path, "work")];
  await folder.write("home/none", "");
  await folder.write("work/.gemini/settings.json", { mcpServers });
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd, platform: process.platform };
  return createHost({ environment, recover: false, settings: {}, trust: true, ...options });
}

const statuses = (host: Host): unknown => host.states().map((state) => [state.name, state.status]);

test("approve() lets entries of a trusted workspace start, those that are named or all, now and in later runs", async () => {
  await using folder = await temporaryFolder();
  {
    await using host = await workspaceHost(folder);
    expect(statuses(host)).toEqual([
      ["a", "blocked"],
      ["b", "blocked"],
      ["demo", "disconnected"],
    ]);
    expect(await host.approve(["b"])).toEqual(["b"]);
    await host.start();
    expect(statuses(host)).toEqual([
      ["a", "blocked"],
      ["b", "connected"],
      ["demo", "disconnected"],
    ]);
    expect(await host.approve()).toEqual(["a"]);
    expect(statuses(host)).toEqual([
      ["a", "disconnected"],
      ["b", "connected"],
      ["demo", "disconnected"],
    ]);
    expect(await host.approve(["a", "b"])).toEqual([]);
  }
  await using host = await workspaceHost(folder);
  expect(statuses(host)).toEqual([
    ["a", "disconnected"],
    ["b", "disconnected"],
    ["demo", "disconnected"],
  ]);
});

test("an entry that has changed since the host read it stays blocked", async () => {
  await using folder = await temporaryFolder();
  await using host = await workspaceHost(folder);
  await folder.write("work/.gemini/settings.json", { mcpServers: { a: { command: "something-else" } } });
  expect(await host.approve(["a"])).toEqual(["a"]);
  expect(host.states()[0]).toMatchObject({ name: "a", status: "blocked", reason: "awaiting_approval" });
});

test("a program of the workspace that changes after its approval does not start", async () => {
  await using folder = await temporaryFolder();
  const { command, args } = stdioServer("well-behaved");
  const program = `#!/bin/sh\nexec ${[command, ...args].map((word) => `'${word}'`).join(" ")}\n`;
  const write = async (text: string): Promise<void> => chmod(await folder.write("work/server", text), 0o755);
  await write(program);
  await using host = await workspaceHost(folder, {}, { a: { command: "./server" } });
  expect(await host.approve()).toEqual(["a"]);
  await write(`${program}# changed\n`);
  await host.start();
  expect(host.states()[0]).toMatchObject({
    status: "blocked",
    reason: "awaiting_approval",
    message: expect.stringContaining("would run a file that has changed since you approved it"),
  });
  await write(program);
  await host.start({ servers: ["a"] });
  expect(host.states()[0]).toMatchObject({ status: "connected" });
});

test("a folder that is not trusted cannot be approved, and a name that is not there is named", async () => {
  await using folder = await temporaryFolder();
  await using host = await workspaceHost(folder, { trust: false });
  await expect(host.approve(["a"])).rejects.toMatchObject({ code: "untrusted_folder", serverName: "a" });
  expect(await host.approve()).toEqual([]);
  await expect(host.approve(["aa"])).rejects.toMatchObject({
    code: "server_unknown",
    message: 'there is no server "aa"; did you mean "a"?',
  });
});

test("callAsModel() names itself in usage errors, and a closed host says that it is closed", async () => {
  await using folder = await temporaryFolder();
  const host = await workspaceHost(folder, {});
  // @ts-expect-error: programs without types may pass anything.
  await expect(host.callAsModel(5)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("callAsModel()"),
  });
  await host[Symbol.asyncDispose]();
  await expect(host.callAsModel("demo__nothing")).rejects.toMatchObject({
    code: "usage",
    message: "this host has been closed",
  });
});

test("callAsModel() passes policy and confirmation, and gives what a model is to be told", async () => {
  await using folder = await temporaryFolder();
  const asked: string[] = [];
  await using host = await workspaceHost(folder, {
    confirm: async ({ toolName }) => {
      asked.push(toolName);
      return ToolConfirmationOutcome.ProceedOnce;
    },
  });
  await host.start({ servers: ["demo"] });
  expect(await host.callAsModel("demo__greet", { name: "Ada" })).toMatchObject({ returnDisplay: "Hello, Ada!" });
  expect(asked).toEqual(["greet"]);
  const failed = await host.callAsModel("demo__fail");
  expect(failed.error).toMatchObject({ code: "tool_error" });
  const confirm = async (): Promise<ToolConfirmationOutcome> => ToolConfirmationOutcome.Cancel;
  await expect(host.callAsModel("demo__greet", { name: "Ada" }, { confirm })).rejects.toMatchObject({ code: "denied" });
  await expect(host.callAsModel("demo__gret")).rejects.toMatchObject({
    code: "tool_unknown",
    message: expect.stringContaining('there is no tool "demo__gret"; similar: demo__greet,'),
  });
  const signal = AbortSignal.abort();
  await expect(host.callAsModel("demo__greet", { name: "Ada" }, { signal })).rejects.toMatchObject({
    code: "cancelled",
  });
});
