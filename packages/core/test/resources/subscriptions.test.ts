import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stdioServer, temporaryFolder, until } from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/clock.ts";
import { HostError } from "../../src/errors.ts";
import { createEmitter, type ServerState } from "../../src/events.ts";
import { createSubscriptions, listenToResource } from "../../src/resources/subscriptions.ts";
import { Connection } from "../../src/server/connection.ts";
import { ServerManager } from "../../src/server/server-manager.ts";
import { manualClock } from "../support/manual-clock.ts";

const uri = "watched://it";

/** A server that tells, as a host holds it. */
async function lookout(era: "legacy" | "modern", clock: Clock = manualClock()) {
  const folder = await temporaryFolder();
  const file = join(folder.path, "notes");
  writeFileSync(file, "");
  const target = { kind: "stdio", ...stdioServer("watched", era, file), env: {}, cwd: folder.path } as const;
  const { on, emit } = createEmitter();
  const updates: string[] = [];
  const held: string[] = [];
  on("resource_updated", (event) => updates.push(`${event.server} ${event.uri}`));
  const client = new Connection({
    definition: { name: "s", excludeTools: [] },
    connectTimeout: 30_000,
    open: ({ signal, onNotification }) =>
      connect(target, { clientInfo: { name: "test", version: "1" }, signal, onNotification, times: { probe: 10_000 } }),
    onState: (state) => emit({ type: "state", state }),
    onNews: emit,
  });
  const manager = new ServerManager({ servers: [{ client }], emit });
  const subscriptions = createSubscriptions({
    on,
    emit,
    clock,
    random: () => 0.5,
    ready: (server, signal) => manager.ready(server, signal),
    client: (server) => manager.getClient(server),
    use(server) {
      held.push(server);
      return () => held.splice(held.indexOf(server), 1);
    },
  });
  const notes = (): readonly string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);
  return {
    manager,
    client,
    subscriptions,
    updates,
    held,
    notes,
    on,
    noted: (line: string, times = 1) => until(() => notes().filter((each) => each === line).length >= times),
    /** By the server's own tool. */
    call: async (tool: string) => (await manager.ready("s")).callTool(tool, {}),
    async [Symbol.asyncDispose]() {
      subscriptions[Symbol.dispose]();
      await manager.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const asked = { legacy: `subscribe ${uri}`, modern: `listen ${uri}` };
const calledOff = { legacy: `unsubscribe ${uri}`, modern: "cancelled" };

describe.each(["legacy", "modern"] as const)("on a server of the %s era", (era) => {
  test("an update is told while someone wants to hear of it, and the server is told when nobody does", async () => {
    await using at = await lookout(era);
    const [one, two] = await Promise.all([at.subscriptions.subscribe("s", uri), at.subscriptions.subscribe("s", uri)]);
    await at.noted(asked[era]);
    expect(at.held).toEqual(["s"]);
    await at.call("touch");
    await until(() => at.updates.length === 1);
    one[Symbol.dispose]();
    one[Symbol.dispose]();
    await at.call("touch");
    await until(() => at.updates.length === 2);
    expect(at.held).toEqual(["s"]);
    two[Symbol.dispose]();
    await at.noted(calledOff[era]);
    await at.call("touch");
    expect(at.updates).toEqual([`s ${uri}`, `s ${uri}`]);
    expect(at.notes()).toEqual([asked[era], calledOff[era]]);
    expect(at.held).toEqual([]);
  });

  test("a new connection is asked again, and what may have been missed is told", async () => {
    const clock = manualClock();
    await using at = await lookout(era, clock);
    using _held = await at.subscriptions.subscribe("s", uri);
    await at.noted(asked[era]);
    const gone = new Promise<ServerState>((resolve) => at.client.onEnd(() => resolve(at.client.state)));
    await at.call("exit").catch(() => {});
    await gone;
    expect(at.updates).toEqual([]);
    await at.manager.ready("s");
    await at.noted(asked[era], 2);
    await until(() => at.updates.length === 1);
    // What listened on the old one is over.
    await clock.pass(3_600_000);
    await at.call("touch");
    await until(() => at.updates.length === 2);
    expect(at.notes()).toEqual([asked[era], asked[era]]);
  });

  test("a second subscription in its life is a new one", async () => {
    await using at = await lookout(era);
    (await at.subscriptions.subscribe("s", uri))[Symbol.dispose]();
    await at.noted(calledOff[era]);
    using _held = await at.subscriptions.subscribe("s", uri);
    await at.noted(asked[era], 2);
  });
});

test("a stream that ends is opened again, later, and what may have been missed is told", async () => {
  const clock = manualClock();
  await using at = await lookout("modern", clock);
  using _held = await at.subscriptions.subscribe("s", uri);
  await at.noted(`listen ${uri}`);
  await at.call("cut");
  await clock.pass(999);
  expect(at.updates).toEqual([]);
  await clock.pass(1);
  await at.noted(`listen ${uri}`, 2);
  expect(at.updates).toEqual([`s ${uri}`]);
  await at.call("touch");
  await until(() => at.updates.length === 2);
});

test("a server that does not tell is not asked to", async () => {
  const { on, emit } = createEmitter();
  const state: ServerState = {
    name: "s",
    since: 0,
    status: "connected",
    peer: { era: "legacy", protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1" } },
  };
  const requests: string[] = [];
  const client = {
    capabilities: { resources: { subscribe: false } },
    state,
    async request(_what: string, method: string) {
      requests.push(method);
      return {};
    },
  };
  const use = () => () => {};
  using subscriptions = createSubscriptions({
    on,
    emit,
    use,
    clock: manualClock(),
    ready: async () => client,
    client: () => client,
  });
  await expect(subscriptions.subscribe("s", uri)).rejects.toMatchObject({
    code: "usage",
    message: '"s" does not support subscriptions to resources',
  });
  expect(requests).toEqual([]);
});

test("who does not want to wait any longer leaves, and who waits for the same is not disturbed", async () => {
  await using at = await lookout("legacy");
  const stop = new AbortController();
  const left = at.subscriptions.subscribe("s", uri, stop.signal);
  const stays = at.subscriptions.subscribe("s", uri);
  stop.abort();
  await expect(left).rejects.toMatchObject({ code: "cancelled" });
  using _held = await stays;
  expect(at.notes()).toEqual([`subscribe ${uri}`]);
});

test("a server is asked to follow a hundred resources, and no more", async () => {
  await using at = await lookout("legacy");
  await Promise.all(Array.from({ length: 100 }, (_, number) => at.subscriptions.subscribe("s", `x://${number}`)));
  await expect(at.subscriptions.subscribe("s", "x://100")).rejects.toMatchObject({ code: "busy" });
});

describe("a server that ends the stream", () => {
  const outage = new HostError("unreachable", "gone");
  const refused = new HostError("protocol", "what?");
  test.each<[string, () => Promise<Record<string, unknown>>, number]>([
    ["at once, in peace, again and again, is left in peace", async () => ({}), 8],
    ["for an outage is tried as often", () => Promise.reject(outage), 8],
    ["because it does not know it is not asked again", () => Promise.reject(refused), 1],
  ])("%s", async (_, answer, times) => {
    const clock = manualClock();
    let requests = 0;
    let missed = 0;
    const over = listenToResource({
      uri,
      clock,
      random: () => 0.5,
      signal: new AbortController().signal,
      request() {
        requests += 1;
        return answer();
      },
      onMissed() {
        missed += 1;
      },
    });
    await clock.pass(3_600_000);
    await over;
    expect([requests, missed]).toEqual([times, times - 1]);
  });
});
