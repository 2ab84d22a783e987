import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createHost } from "@fairlead/core/host";
import type { Host } from "@fairlead/core/host/types";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { loadGatewayKey } from "../../src/gateway-key.ts";
import { createGatewayLoops } from "../../src/gateway-loops.ts";
import { createHostPool } from "../../src/hosts/client-hosts.ts";
import type { HostHooks, Workspace } from "../../src/hosts/gateway-host.ts";
import { createSharedHosts } from "../../src/hosts/shared-hosts.ts";
import { steppedClock } from "../support/stepped-clock.ts";

/** Makes hosts whose one server, which is never started, is used by all clients or by one. */
async function hostsIn(
  path: string,
  share: "all" | "client",
): Promise<(workspace: Workspace, hooks: Omit<HostHooks, "greeting">) => Promise<Host>> {
  const home = join(path, "home");
  await mkdir(join(home, ".gemini"), { recursive: true });
  const settings = { mcpServers: { one: stdioServer("counted") }, fairlead: { servers: { one: { share } } } };
  await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
  const env = { ...process.env, FAIRLEAD_HOME: join(home, ".fairlead"), FAIRLEAD_SECRET_STORE: "file" };
  return (_workspace, hooks) =>
    createHost({ ...hooks, environment: { env, home, cwd: path, platform: process.platform }, lazy: true });
}

test("a client's own host that could not be opened is opened by the next request", async () => {
  await using folder = await temporaryFolder();
  const make = await hostsIn(folder.path, "client");
  let attempts = 0;
  await using pool = createHostPool({
    clock: steppedClock(),
    loops: createGatewayLoops(() => loadGatewayKey(folder.path)),
    self: { name: "fairlead", version: "1" },
    createHost: async (...about) => {
      attempts += 1;
      if (attempts === 2) throw new Error("no memory");
      return make(...about);
    },
  });
  const workspace = { cwd: folder.path, env: {} };
  const client = await pool.open(workspace, "c");
  await expect(client.hostOf("one", "legacy")).rejects.toThrow("no memory");
  const own = await client.hostOf("one", "legacy");
  expect(own).not.toBe(client.shared.host);
  expect(await client.hostOf("one", "legacy")).toBe(own);
  await client.close();
});

test("a legacy host that could not be opened is opened by the next request; until then all requests use the other host", async () => {
  await using folder = await temporaryFolder();
  const make = await hostsIn(folder.path, "all");
  const workspace = { cwd: folder.path, env: {} };
  let attempts = 0;
  await using shared = await createSharedHosts(async (hooks): Promise<Host> => {
    attempts += 1;
    if (attempts === 2) throw new Error("no memory");
    const { era = "modern" } = hooks;
    const host = await make(workspace, hooks);
    let status = "disconnected";
    // As if a start connected the server in the era of the host.
    return {
      ...host,
      async start() {
        status = "connected";
      },
      async stop() {
        status = "disconnected";
      },
      serverFacts: () => ({ era, serverInfo: {}, capabilities: {} }),
      states: () => host.states().map((state) => ({ ...state, status, peer: { era } }) as unknown as typeof state),
    };
  }, steppedClock());
  const both = await Promise.all([shared.hostOf("one", "legacy"), shared.hostOf("one", "legacy")]);
  expect(both).toEqual([shared.host, shared.host]);
  const legacy = await shared.hostOf("one", "legacy");
  expect(legacy).not.toBe(shared.host);
  expect(shared.hostOf("one", "legacy")).toBe(legacy);
});
