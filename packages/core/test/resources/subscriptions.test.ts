import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stdioServer, temporaryFolder, until } from "@fairlead/test-servers";
import { describe, expect, test, vi } from "vitest";
import type { Clock } from "../../src/clock.ts";
import { HostError } from "../../src/errors.ts";
import { createEmitter } from "../../src/events.ts";
import { createOpenedHost } from "../../src/host.ts";
import { createSubscriptions, listenToResource } from "../../src/resources/subscriptions.ts";
import { Connection } from "../../src/server/connection.ts";
import { oneTool, scriptedSession } from "../server/scripted-session.ts";
import { manualClock } from "../support/manual-clock.ts";

const uri = "watched://it";

type Whose = "the shared connection" | "a gateway client's own connection";

/** A server that tells, in a host. */
async function lookout(era: "legacy" | "modern", clock: Clock = manualClock(), whose: Whose = "the shared connection") {
  const folder = await temporaryFolder();
  const file = join(folder.path, "notes");
  writeFileSync(file, "");
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: stdioServer("watched", era, file) } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createOpenedHost({ environment, workspace: false, recover: false });
  const { servers } = host.gateway;
  const own = whose === "the shared connection" ? undefined : servers.get("s").other("c1", {});
  const connection = own ?? servers.get("s").shared ?? expect.fail("s may not start");
  const held: string[] = [];
  const use = connection.use.bind(connection);
  vi.spyOn(connection, "use").mockImplementation(() => {
    const release = use();
    held.push("s");
    return () => {
      held.splice(held.indexOf("s"), 1);
      release();
    };
  });
  const updates: string[] = [];
  const note = (event: { readonly server: string; readonly uri: string }): number =>
    updates.push(`${event.server} ${event.uri}`);
  host.on("resource_updated", note);
  const subscriptions = createSubscriptions({
    servers,
    on: host.on,
    emit: (event) => event.type === "resource_updated" && note(event),
    clock,
    random: () => 0.5,
  });
  const notes = (): readonly string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);
  return {
    connection,
    subscribe: (wanted: string, signal?: AbortSignal) => subscriptions.subscribe("s", wanted, signal, own),
    updates,
    held,
    notes,
    noted: (line: string, times = 1) => until(() => notes().filter((each) => each === line).length >= times),
    /** By the server's own tool. */
    call: async (tool: string) => (await connection.ready()).callTool(tool, {}),
    async [Symbol.asyncDispose]() {
      subscriptions[Symbol.dispose]();
      await host[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const asked = { legacy: `subscribe ${uri}`, modern: `listen ${uri}` };
const calledOff = { legacy: `unsubscribe ${uri}`, modern: "cancelled" };

describe.each([
  ["legacy", "the shared connection"],
  ["modern", "the shared connection"],
  ["legacy", "a gateway client's own connection"],
  ["modern", "a gateway client's own connection"],
] as const)("on a server of the %s era, over %s", (era, whose) => {
  test("an update is reported while a listener is subscribed, and the server is told when none is", async () => {
    await using at = await lookout(era, manualClock(), whose);
    const [one, two] = await Promise.all([at.subscribe(uri), at.subscribe(uri)]);
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
    await using at = await lookout(era, clock, whose);
    using _held = await at.subscribe(uri);
    await at.noted(asked[era]);
    const gone = new Promise<void>((resolve) => {
      at.connection.onState(({ status }) => {
        if (status === "disconnected") resolve();
      });
    });
    await at.call("exit").catch(() => {});
    await gone;
    expect(at.updates).toEqual([]);
    await at.connection.ready();
    await at.noted(asked[era], 2);
    await until(() => at.updates.length === 1);
    // What listened on the old one is over.
    await clock.pass(3_600_000);
    await at.call("touch");
    await until(() => at.updates.length === 2);
    expect(at.notes()).toEqual([asked[era], asked[era]]);
  });

  test("a second subscription in its life is a new one", async () => {
    await using at = await lookout(era, manualClock(), whose);
    (await at.subscribe(uri))[Symbol.dispose]();
    await at.noted(calledOff[era]);
    using _held = await at.subscribe(uri);
    await at.noted(asked[era], 2);
  });
});

test("a stream that ends is opened again, later, and what may have been missed is told", async () => {
  const clock = manualClock();
  await using at = await lookout("modern", clock);
  using _held = await at.subscribe(uri);
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
  const session = scriptedSession({
    capabilities: { tools: {}, resources: { subscribe: false } },
    answers: { ...oneTool, "resources/list": { resources: [] }, "resources/templates/list": { resourceTemplates: [] } },
  });
  const own = new Connection({
    definition: { name: "s", excludeTools: [] },
    connectTimeout: 1000,
    open: async () => session,
    clock: manualClock(),
  });
  using subscriptions = createSubscriptions({
    on,
    emit,
    servers: { get: () => expect.fail("it has a connection of its own"), find: () => undefined },
    clock: manualClock(),
  });
  await expect(subscriptions.subscribe("s", uri, undefined, own)).rejects.toMatchObject({
    code: "usage",
    message: '"s" does not support subscriptions to resources',
  });
  expect(session.asked.filter((method) => /subscri/.test(method))).toEqual([]);
  await own.close();
});

test("a lazily started server runs as long as a listener is subscribed, also after a reload has replaced it", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("notes", "");
  const write = (...words: readonly string[]): Promise<unknown> =>
    folder.write("home/.gemini/settings.json", { mcpServers: { s: stdioServer("watched", "legacy", file, ...words) } });
  await write();
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const clock = manualClock();
  await using host = await createOpenedHost({ environment, workspace: false, lazy: true, idleStop: 1000, clock });
  const status = (): unknown => host.states()[0]?.status;
  const subscription = await host.subscribe("s", uri);
  await host.call("s", "touch");
  await clock.pass(5000);
  expect(status()).toBe("connected");
  await write("x");
  expect(await host.reload()).toMatchObject({ replaced: ["s"] });
  await host.call("s", "touch");
  await until(() => readFileSync(file, "utf8").split(asked.legacy).length > 2);
  await clock.pass(5000);
  expect(status()).toBe("connected");
  subscription[Symbol.dispose]();
  await clock.pass(5000);
  expect(status()).not.toBe("connected");
});

test("who does not want to wait any longer leaves, and who waits for the same is not disturbed", async () => {
  await using at = await lookout("legacy");
  const stop = new AbortController();
  const left = at.subscribe(uri, stop.signal);
  const stays = at.subscribe(uri);
  stop.abort();
  await expect(left).rejects.toMatchObject({ code: "cancelled" });
  using _held = await stays;
  expect(at.notes()).toEqual([`subscribe ${uri}`]);
});

test("a server is asked to follow a hundred resources, and no more", async () => {
  await using at = await lookout("legacy");
  await Promise.all(Array.from({ length: 100 }, (_, number) => at.subscribe(`x://${number}`)));
  await expect(at.subscribe("x://100")).rejects.toMatchObject({ code: "busy" });
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
