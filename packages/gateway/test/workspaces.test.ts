import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenedHost } from "@fairlead/core/host";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { loadGatewayKey } from "../src/gateway-key.ts";
import { createGatewayLoops } from "../src/gateway-loops.ts";
import { type CreateGatewayHost, Workspaces } from "../src/workspaces.ts";
import { steppedClock } from "./support/stepped-clock.ts";

/** Workspaces whose one server, which is never started, is used by all clients or by one. */
async function workspacesIn(path: string, share: "all" | "client", before: () => void = () => {}) {
  const home = join(path, "home");
  await mkdir(join(home, ".gemini"), { recursive: true });
  const settings = { mcpServers: { one: stdioServer("counted") }, fairlead: { servers: { one: { share } } } };
  await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
  const env = { ...process.env, FAIRLEAD_HOME: join(home, ".fairlead"), FAIRLEAD_SECRET_STORE: "file" };
  const create: CreateGatewayHost = async (_workspace, hooks) => {
    before();
    return createOpenedHost({
      ...hooks,
      environment: { env, home, cwd: path, platform: process.platform },
      lazy: true,
    });
  };
  return new Workspaces({
    clock: steppedClock(),
    loops: createGatewayLoops(() => loadGatewayKey(path)),
    self: { name: "fairlead", version: "1" },
    consent: { port: () => async () => {}, async [Symbol.asyncDispose]() {} },
    createHost: create,
  });
}

test("a host that could not be opened is opened for the next client", async () => {
  await using folder = await temporaryFolder();
  let attempts = 0;
  await using workspaces = await workspacesIn(folder.path, "all", () => {
    attempts += 1;
    if (attempts === 1) throw new Error("no memory");
  });
  const workspace = { cwd: folder.path, env: {} };
  await expect(workspaces.enter(workspace, "a")).rejects.toThrow("no memory");
  const [first, second] = await Promise.all([workspaces.enter(workspace, "a"), workspaces.enter(workspace, "b")]);
  expect(second.host).toBe(first.host);
  expect(attempts).toBe(2);
  await Promise.all([first.close(), second.close()]);
});

test("each principal has a host of its own, and one with other groups too", async () => {
  await using folder = await temporaryFolder();
  await using workspaces = await workspacesIn(folder.path, "all");
  const enter = (tenant: number, id: string, ...groups: string[]) =>
    workspaces.enter({ cwd: folder.path, env: {}, principal: { tenant, id, groups } }, "a");
  const entered = await Promise.all([
    enter(0, "https://idp.example#ada"),
    enter(0, "https://idp.example#ada"),
    enter(0, "https://idp.example#ada", "admins"),
    enter(0, "https://idp.example#bob"),
    enter(1, "https://idp.example#ada"),
  ]);
  expect(new Set(entered.map(({ host }) => host)).size).toBe(4);
  expect(entered[0].host).toBe(entered[1].host);
  await Promise.all(entered.map((each) => each.close()));
});

test("each client has its own connection to a server that is not shared, one for each era; the host is the same", async () => {
  await using folder = await temporaryFolder();
  await using workspaces = await workspacesIn(folder.path, "client");
  const workspace = { cwd: folder.path, env: {} };
  const first = await workspaces.enter(workspace, "a");
  const second = await workspaces.enter(workspace, "b");
  const legacy = await first.connectionOf("one", "legacy");
  expect(await first.connectionOf("one", "legacy")).toBe(legacy);
  const others = [await first.connectionOf("one", "modern"), await second.connectionOf("one", "legacy")];
  const shared = first.host.gateway.servers.get("one").shared;
  expect(new Set([legacy, ...others, shared]).size).toBe(4);
  await first.close();
  await expect(first.connectionOf("one", "legacy")).rejects.toThrow("the client has disconnected");
  expect(await second.connectionOf("one", "legacy")).toBe(others[1]);
  await second.close();
});

test("a client gets no connection to a server that is replaced while it asks", async () => {
  await using folder = await temporaryFolder();
  await using workspaces = await workspacesIn(folder.path, "client");
  const client = await workspaces.enter({ cwd: folder.path, env: {} }, "a");
  const { servers } = client.host.gateway;
  const { configuration } = servers;
  const before = servers.get("one");
  const asking = client.connectionOf("one", "legacy");
  servers.setConfiguration({
    ...configuration,
    servers: configuration.servers.map(({ server, admission }) => ({
      server: { ...server, definition: server.definition && { ...server.definition, fingerprint: "other" } },
      admission,
    })),
  });
  const [connection] = await Promise.all([asking, servers.update()]);
  expect(before.findOther("a legacy")).toBeUndefined();
  expect(servers.get("one").findOther("a legacy")).toBe(connection);
  await client.close();
});
