import { fileURLToPath } from "node:url";
import {
  processesWith,
  programServer,
  stdioServer,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost, type Host, type HostOptions, type ServerState } from "../../src/index.ts";
import { manualClock } from "../support/manual-clock.ts";

interface Ship extends AsyncDisposable {
  readonly host: Host;
  readonly folder: TemporaryFolder;
  state(name: string): ServerState | undefined;
  /** Resolves with the first such state of that server, from now on or already there. */
  until(name: string, isIt: (state: ServerState) => boolean): Promise<ServerState>;
}

const serveFile = fileURLToPath(new URL("../../../test-servers/src/programs/serve.mjs", import.meta.url));

/** A server of its own, in a few words; there is `serve` to begin with, and `say`, which falls silent once it is `mute`. */
function program(code: string): object {
  const begin = `import { serve } from ${JSON.stringify(serveFile)};
    let mute = false; const say = (text) => mute || process.stdout.write(text);`;
  return { command: process.execPath, args: ["--input-type=module", "-e", begin + code] };
}

async function testShip(mcpServers: object, fairlead: object = {}, options: HostOptions = {}): Promise<Ship> {
  const folder = await temporaryFolder();
  await folder.write("home/.gemini/settings.json", { mcpServers, fairlead });
  const home = `${folder.path}/home`;
  const none = `${folder.path}/none.json`;
  const env = { PATH: process.env["PATH"], GEMINI_CLI_SYSTEM_SETTINGS_PATH: none, HOME: home };
  const host = await createHost({ environment: { env, home, cwd: home, platform: process.platform }, ...options });
  const state: Ship["state"] = (name) => host.states().find((each) => each.name === name);
  return {
    host,
    folder,
    state,
    until: (name, isIt) =>
      new Promise((resolve) => {
        const now = state(name);
        if (now && isIt(now)) return resolve(now);
        const stop = host.on("state", (event) => {
          if (event.state.name !== name || !isIt(event.state)) return;
          stop();
          resolve(event.state);
        });
      }),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      const left = processesWith(`HOME=${home}`);
      await folder[Symbol.asyncDispose]();
      expect(left).toEqual([]);
    },
  };
}

const isDiscovered = (state: ServerState): boolean => state.status === "connected" && state.offer !== undefined;

test("with one of ten servers never answering, the other nine are connected before anything is known of it", async () => {
  const names = Array.from({ length: 9 }, (_, number) => `s${number}`);
  const nine = Object.fromEntries(names.map((name) => [name, stdioServer("well-behaved")]));
  await using ship = await testShip({ silent: stdioServer("silent"), ...nine });
  const seen: string[] = [];
  ship.host.on("state", ({ state }) => seen.push(`${state.name} ${isDiscovered(state) ? "discovered" : state.status}`));
  const starting = ship.host.start();
  await Promise.all(names.map((name) => ship.until(name, isDiscovered)));
  expect(seen.filter((event) => event.startsWith("silent"))).toEqual(["silent connecting"]);
  expect(ship.host.getDiscoveryState()).toBe("in_progress");
  expect(ship.host.tools().map(({ name }) => name)).toEqual(["echo", ...names.slice(1).map((name) => `${name}__echo`)]);
  await ship.host[Symbol.asyncDispose]();
  await starting;
});

test("a call connects to its own server only", async () => {
  await using ship = await testShip({ a: stdioServer("well-behaved"), b: stdioServer("well-behaved") });
  expect(await ship.host.call("a", "echo", { text: "ahoy" })).toEqual({
    content: [{ type: "text", text: "ahoy" }],
    isError: false,
  });
  expect([ship.state("a")?.status, ship.state("b")]).toMatchObject(["connected", { reason: "lazy" }]);
});

test("a server that waits for its first use is not started with the others, unless it is named", async () => {
  await using ship = await testShip(
    { a: stdioServer("well-behaved"), b: stdioServer("well-behaved") },
    { servers: { b: { start: "lazy" } } },
  );
  await ship.host.start();
  expect([ship.state("a")?.status, ship.state("b")]).toMatchObject(["connected", { reason: "lazy" }]);
  await ship.host.start({ servers: ["b"] });
  expect(ship.state("b")?.status).toBe("connected");
});

test("a server that dies takes its calls with it, says why, and is connected again when it is needed again", async () => {
  const dies = program(`serve({ "tools/call": ({ arguments: { text } }) => {
    if (text === "die") {
      mute = true;
      process.stderr.write("out of rope\\n", () => process.exit(3));
    }
    return { content: [{ type: "text", text }] };
  } }, say);`);
  await using ship = await testShip({ dies, other: stdioServer("well-behaved") });
  await ship.host.start();
  await expect(ship.host.call("dies", "echo", { text: "die" })).rejects.toMatchObject({
    code: "lost",
    message: 'dies.echo: "dies" exited with code 3; stderr: out of rope; the request may or may not have run',
    evidence: "out of rope",
  });
  const state = await ship.until("dies", ({ status }) => status === "disconnected");
  expect(state).toMatchObject({
    reason: "server_exited",
    message: '"dies" exited with code 3; stderr: out of rope',
    evidence: "out of rope",
  });
  // What it offered is still known: a call would bring it back.
  expect(ship.host.tools("dies")).toHaveLength(1);
  expect(ship.state("other")?.status).toBe("connected");
  expect(await ship.host.call("dies", "echo", { text: "again" })).toMatchObject({ isError: false });
});

test("a server that is connected but never lists its tools is given up in time, and what it owes is named", async () => {
  const clock = manualClock();
  const owes = program('serve({ "tools/list": () => ({ mute: (mute = true) }) }, say);');
  await using ship = await testShip({ owes }, { connectTimeout: 20_000 }, { clock });
  const starting = ship.host.start();
  await ship.until("owes", ({ status }) => status === "connected");
  await clock.pass(20_000);
  await starting;
  expect(ship.state("owes")).toMatchObject({
    status: "disconnected",
    reason: "connect_timeout",
    message: '"owes" timed out after 20 s: no response to tools/list',
    next: 'raise "fairlead.connectTimeout" in settings.json',
  });
});

describe("filters", () => {
  const two = program(
    'serve({ "tools/list": () => ({ tools: ["read", "write"].map((name) => ({ name, inputSchema: {} })) }) });',
  );

  test("hide tools from lists and calls", async () => {
    await using ship = await testShip({ a: { ...two, excludeTools: ["wr*"] } });
    await ship.host.start();
    expect(ship.host.tools().map(({ name }) => name)).toEqual(["read"]);
    await expect(ship.host.call("a", "write", {})).rejects.toMatchObject({
      code: "denied",
      message: 'a.write denied: excludeTools of "a" in the settings excludes it',
    });
  });

  test("that leave nothing are the reason why the server is closed", async () => {
    await using ship = await testShip({ a: { ...two, includeTools: ["draw"] } });
    await ship.host.start();
    expect(ship.state("a")).toMatchObject({
      status: "disconnected",
      reason: "no_capabilities",
      message: '"a" offers nothing that can be used: includeTools hides all of its 2 tools',
    });
  });
});

test("a list that has changed is told", async () => {
  const changes = program(`serve({ "tools/call": () => {
    say(JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }) + "\\n");
    return { content: [] };
  } }, say);`);
  await using ship = await testShip({ changes });
  const told = new Promise((resolve) => ship.host.on("list_changed", resolve));
  await ship.host.call("changes", "echo", { text: "" });
  expect(await told).toEqual({ type: "list_changed", server: "changes", list: "tools" });
});

test("an observer sees every step, and wire messages are in the log where they are wanted", async () => {
  const steps: string[] = [];
  const observe: HostOptions["observe"] = (server, { step }) => steps.push(`${server} ${step}`);
  await using ship = await testShip({ a: stdioServer("well-behaved") }, {}, { observe, debug: "a" });
  await ship.host.start();
  expect(steps).toEqual(["a definition", "a program", "a environment", "a start", "a handshake", "a list"]);
  await ship.host[Symbol.asyncDispose]();
  expect(await ship.folder.read("home/.fairlead/logs/a.log")).toContain('"tools/list"');
});

test("closing a host in the middle of everything leaves nothing behind, and ends those who wait", async () => {
  await using ship = await testShip({
    silent: programServer("silent"),
    stubborn: programServer("stubborn"),
    family: programServer("family"),
  });
  const starting = ship.host.start();
  const call = expect(ship.host.call("silent", "echo")).rejects.toMatchObject({ code: "cancelled" });
  await ship.until("stubborn", isDiscovered);
  await ship.host[Symbol.asyncDispose]();
  await Promise.all([starting, call]);
  expect(ship.host.states().map(({ status }) => status)).toEqual(Array(4).fill("disconnected"));
});

test("two hosts in one process end their own servers only", async () => {
  await using one = await testShip({ a: stdioServer("well-behaved") });
  const two = await testShip({ a: stdioServer("well-behaved") });
  await Promise.all([one.host.start(), two.host.start()]);
  await two[Symbol.asyncDispose]();
  expect(two.state("a")?.status).toBe("disconnected");
  expect(await one.host.call("a", "echo", { text: "alive" })).toMatchObject({ isError: false });
});
