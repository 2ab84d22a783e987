/** The servers of a host, by name, and what a new configuration makes of them. */

import { fileURLToPath } from "node:url";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createOpenedHost, type OpenedHost } from "../../src/host.ts";
import type { HostEvent, HostOptions } from "../../src/index.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";

const serveFile = fileURLToPath(new URL("../../../test-servers/src/programs/serve.mjs", import.meta.url));

interface Scene extends AsyncDisposable {
  readonly host: OpenedHost;
  readonly clock: ManualClock;
  /** `name status` of every change. */
  readonly seen: string[];
  readonly events: HostEvent[];
  readonly write: (servers: object, more?: object) => Promise<unknown>;
  readonly statuses: () => readonly (readonly [string, string])[];
}

const none = { command: "/nowhere" };
const working = (...words: readonly string[]): object => stdioServer("well-behaved", ...words);

async function scene(servers: object, more: object = {}, options: HostOptions = {}): Promise<Scene> {
  const folder: TemporaryFolder = await temporaryFolder();
  const write: Scene["write"] = (mcpServers, others = {}) =>
    folder.write("home/.gemini/settings.json", { mcpServers, ...others });
  await write(servers, more);
  const home = `${folder.path}/home`;
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder.path}/none` };
  const environment = { env, home, cwd: home, platform: process.platform };
  const clock = manualClock();
  const host = await createOpenedHost({ environment, workspace: false, clock, ...options });
  const seen: string[] = [];
  const events: HostEvent[] = [];
  host.on("state", ({ state }) => seen.push(`${state.name} ${state.status}`));
  host.on("servers", (event) => events.push(event));
  return {
    host,
    clock,
    seen,
    events,
    write,
    statuses: () => host.states().map(({ name, status }) => [name, status]),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const excluded = (...names: readonly string[]): object => ({ mcp: { excluded: names } });
const lazy = (name: string): object => ({ fairlead: { servers: { [name]: { start: "lazy" } } } });

describe("the start", () => {
  test.each([false, true])(
    "of an unknown name is refused, with the nearest one; of none starts none (lazy: %s)",
    async (lazily) => {
      await using at = await scene({ github: working() }, {}, { lazy: lazily });
      await expect(at.host.start({ servers: ["githb"] })).rejects.toMatchObject({
        code: "server_unknown",
        message: 'there is no server "githb"; did you mean "github"?',
      });
      await at.host.start({ servers: [] });
      expect(at.host.states()[0]).toMatchObject({ name: "github", status: "disconnected" });
    },
  );

  test("of a server that may not start changes nothing, and a request says why", async () => {
    await using at = await scene({ out: working() }, excluded("out"));
    await at.host.start({ servers: ["out"] });
    const { servers } = at.host.gateway;
    expect(servers.get("out").shared).toBeUndefined();
    expect(at.statuses()[0]).toEqual(["out", "blocked"]);
    await expect(servers.get("out").ready()).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining('"out" is excluded'),
    });
    expect(() => servers.get("b")).toThrow('there is no server "b"');
  });
});

describe("a new configuration", () => {
  test("leaves a server alone whose definition is the same; others are ended, replaced, added", async () => {
    await using at = await scene({ same: working(), other: working(), gone: working() });
    await at.host.start();
    const { servers } = at.host.gateway;
    const [same, other] = [servers.get("same"), servers.get("other")];
    at.seen.length = 0;
    await at.write({ new: working(), other: working("x"), same: working() });
    const changes = await at.host.reload();
    expect(changes).toEqual({ kept: ["same", "demo"], replaced: ["other"], added: ["new"], removed: ["gone"] });
    expect(at.events).toEqual([{ type: "servers", ...changes }]);
    expect(servers.names()).toEqual(["new", "other", "same", "demo"]);
    expect(servers.get("same")).toBe(same);
    expect(servers.get("other")).not.toBe(other);
    expect([same.state.status, other.state.status, servers.get("other").state.status]).toEqual([
      "connected",
      "disconnected",
      "disconnected",
    ]);
    expect(at.seen.filter((event) => event.startsWith("same"))).toEqual([]);
    await at.host.start();
    expect(at.statuses().slice(0, -1)).toEqual([
      ["new", "connected"],
      ["other", "connected"],
      ["same", "connected"],
    ]);
    expect(at.seen.filter((event) => event.startsWith("same"))).toEqual([]);
  });

  test("gives a server that is kept what does not belong to its definition", async () => {
    await using at = await scene({ a: working() });
    const before = at.host.gateway.servers.get("a");
    await at.write({ a: working() }, lazy("a"));
    expect(await at.host.reload()).toMatchObject({ kept: ["a", "demo"] });
    expect(at.host.gateway.servers.get("a")).toBe(before);
    await at.host.start();
    expect(at.host.states()[0]).toMatchObject({ name: "a", status: "disconnected", reason: "lazy" });
  });

  test("between what may start and what may not makes everything a replacement", async () => {
    const servers = { a: working(), b: none, c: none, d: none };
    await using at = await scene(servers, excluded("b", "c", "d"));
    await at.host.start({ servers: ["a"] });
    await at.clock.pass(10);
    await at.write(servers, { ...excluded("a", "c"), fairlead: { servers: { d: { enabled: false } } } });
    expect(await at.host.reload()).toEqual({ kept: ["c", "demo"], replaced: ["a", "b", "d"], added: [], removed: [] });
    expect(at.host.states().slice(0, -1)).toMatchObject([
      { name: "a", status: "blocked" },
      { name: "b", status: "disconnected" },
      { name: "c", status: "blocked", since: 0 },
      { name: "d", status: "disabled", since: 10 },
    ]);
  });

  test("cancels the attempt to connect a server that is gone, and its name is not known any more", async () => {
    await using at = await scene({ slow: stdioServer("silent") });
    const slow = at.host.gateway.servers.get("slow");
    const waiting = expect(slow.ready()).rejects.toMatchObject({ code: "cancelled" });
    await at.write({});
    await at.host.reload();
    await waiting;
    expect([slow.state.status, at.host.gateway.servers.names()]).toEqual(["disconnected", ["demo"]]);
    await expect(at.host.call("slow", "echo")).rejects.toMatchObject({ code: "server_unknown" });
    // A caller that still has the old server cannot start it again.
    await expect(slow.ready()).rejects.toMatchObject({ code: "cancelled" });
  });

  test("does not bring back what it replaced", async () => {
    await using at = await scene({ a: working() }, {}, { recover: true });
    await at.host.start();
    await at.write({ a: working("x") });
    expect(await at.host.reload()).toMatchObject({ replaced: ["a"] });
    at.seen.length = 0;
    await at.clock.pass(3_600_000);
    expect(at.seen).toEqual([]);
  });

  test("starts a replaced server only when the earlier program has ended", async () => {
    const folder = await temporaryFolder();
    await using _ = folder;
    const notes = `${folder.path}/notes`;
    // It takes a while to end.
    const slow = (word: string): object => ({
      command: process.execPath,
      args: [
        "--input-type=module",
        "-e",
        `import { appendFileSync } from "node:fs";
        import { serve } from ${JSON.stringify(serveFile)};
        const note = (text) => appendFileSync(${JSON.stringify(notes)}, text + " ${word}\\n");
        note("start");
        process.stdin.on("end", () => setTimeout(() => { note("end"); process.exit(0); }, 1000));
        serve();`,
      ],
    });
    await using at = await scene({ a: slow("one"), b: working() }, {}, { clock: systemClock });
    await at.host.start();
    await at.write({ a: slow("two"), b: working("x") });
    const replaced = new Promise<void>((resolve) => {
      at.host.on("servers", () => resolve());
    });
    const reloading = at.host.reload();
    await replaced;
    const [listed] = await Promise.all([
      at.host.call("b", "echo", { text: "1" }),
      at.host.call("a", "echo", { text: "2" }),
    ]);
    expect(listed).toMatchObject({ isError: false });
    expect(await reloading).toMatchObject({ replaced: ["a", "b"] });
    expect((await folder.read("notes")).trim().split("\n")).toEqual(["start one", "end one", "start two"]);
    // What was listed meanwhile stays listed.
    expect(at.host.tools().map(({ server }) => server)).toEqual(["a", "b"]);
  });
});
