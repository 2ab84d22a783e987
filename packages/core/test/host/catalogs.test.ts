import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { scaled, stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createOpenedHost, type OpenedHost } from "../../src/host.ts";
import type { HostOptions } from "../../src/index.ts";
import { manualClock } from "../support/manual-clock.ts";

interface Home extends AsyncDisposable {
  /** A host of another run. */
  host(options?: HostOptions): Promise<OpenedHost>;
  write: TemporaryFolder["write"];
  /** What the servers wrote down since the last time. */
  notes(): Promise<readonly string[]>;
  path: string;
}

async function home(mcpServers: (at: string) => object, fairlead: object = {}): Promise<Home> {
  const folder = await temporaryFolder();
  await folder.write("home/.gemini/settings.json", { mcpServers: mcpServers(folder.path), fairlead });
  const env = { PATH: process.env["PATH"], GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const at = join(folder.path, "home");
  const environment = { env: { ...env, HOME: at }, home: at, cwd: at, platform: process.platform };
  let read = 0;
  return {
    host: (options = {}) => createOpenedHost({ environment, recover: false, ...options }),
    write: (path, content) => folder.write(path, content),
    path: folder.path,
    async notes() {
      const text = await readFile(join(folder.path, "notes"), "utf8").catch(() => "");
      const lines = text.split("\n").slice(read, -1);
      read += lines.length;
      return lines.filter((line) => !line.startsWith("declared"));
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const counted = (at: string, name = "counted"): object =>
  stdioServer("counted", join(at, "notes"), join(at, "list.json"), name);
const inputSchema = { type: "object" };

test("the tools of many servers are known before any of them is started, and a call starts the one that is called", async () => {
  const names = Array.from({ length: 4 + scaled(46) }, (_, number) => `s${number}`);
  await using at = await home((path) => Object.fromEntries(names.map((name) => [name, counted(path, name)])));
  {
    await using host = await at.host();
    await host.start();
    expect([...(await at.notes())].sort()).toEqual(names.map((name) => `start ${name}`).sort());
  }
  await using host = await at.host();
  const expected = names.flatMap((name, index) =>
    ["echo", "ask"].map((tool) => ({ server: name, name: index === 0 ? tool : `${name}__${tool}` })),
  );
  expect(host.tools().map(({ server, name }) => ({ server, name }))).toEqual(expected);
  expect(await at.notes()).toEqual([]);
  expect(host.states().every(({ status }) => status === "disconnected")).toBe(true);
  await host.call("s7", "echo", { text: "hello" });
  expect(await at.notes()).toEqual(["start s7", 'call echo {"text":"hello"}']);
});

test("a definition that is not the one that was shown is called only when that is accepted", async () => {
  await using at = await home((path) => ({ s: counted(path) }));
  const tools = (description: string): object[] => [
    { name: "pay", description, inputSchema },
    { name: "look", inputSchema },
  ];
  await at.write("list.json", tools("Pays."));
  {
    await using host = await at.host();
    await host.start();
  }
  await at.write("list.json", tools("Pays twice."));
  await using host = await at.host();
  const news: unknown[] = [];
  host.on("catalog", (event) => news.push(event));
  expect(host.tools("s")[0]?.description).toBe("Pays.");
  await expect(host.call("s", "pay", {})).rejects.toMatchObject({
    code: "changed",
    message: "s.pay changed: its definition differs from the accepted one",
    serverName: "s",
  });
  expect(news).toEqual([
    { type: "catalog", server: "s", lists: ["tools"], tools: { added: [], removed: [], changed: ["pay"] } },
  ]);
  expect(host.tools("s")[0]?.description).toBe("Pays twice.");
  await host.call("s", "look", {});
  await expect(host.call("s", "pay", {})).rejects.toMatchObject({ code: "changed" });
  await host.call("s", "pay", {}, { acceptChanged: true });
  await host.call("s", "pay", {});
  expect((await at.notes()).slice(2)).toEqual(["call look {}", "call pay {}", "call pay {}"]);
});

test("what came of a change is what the next run knows, and still a change until the user accepts it", async () => {
  await using at = await home((path) => ({ s: counted(path) }));
  for (const description of ["one", "two"]) {
    await at.write("list.json", [{ name: "t", description, inputSchema }]);
    await using host = await at.host();
    await host.start();
  }
  await using host = await at.host();
  expect(host.tools("s").map(({ description }) => description)).toEqual(["two"]);
  expect(await host.changeOf("s", "t")).toEqual([{ member: "description", before: "one", after: "two" }]);
  await expect(host.call("s", "t", {})).rejects.toMatchObject({ code: "changed" });
  await host.call("s", "t", {}, { acceptChanged: true });
  await host[Symbol.asyncDispose]();
  await using next = await at.host();
  await next.call("s", "t", {});
});

test("another value of a variable is another server: nothing is known of it", async () => {
  await using at = await home((path) => ({ s: { ...counted(path), env: { WHO: "$WHO" } } }));
  const as = (who: string): HostOptions => {
    const home = join(at.path, "home");
    const env = { PATH: process.env["PATH"], HOME: home, WHO: who, GEMINI_CLI_SYSTEM_SETTINGS_PATH: "/none" };
    return { environment: { env, home, cwd: home, platform: process.platform } };
  };
  {
    await using host = await at.host(as("ada"));
    await host.start();
  }
  await using same = await at.host(as("ada"));
  expect(same.tools("s")).toHaveLength(2);
  await using other = await at.host(as("bob"));
  expect(other.tools("s")).toEqual([]);
});

test("a lazily started server is stopped when it got no call for a while, and comes back with the next call", async () => {
  const clock = manualClock();
  await using at = await home((path) => ({ s: counted(path) }), { start: "lazy" });
  await using host = await at.host({ clock, recover: true, idleStop: 1000 });
  await host.start();
  expect(await at.notes()).toEqual([]);
  await host.call("s", "echo", {});
  const stopped = new Promise((resolve) => {
    host.on("state", ({ state }) => state.status === "disconnected" && resolve(undefined));
  });
  await clock.pass(1000);
  await stopped;
  expect(host.states()[0]).toMatchObject({ status: "disconnected", reason: "lazy" });
  await host.call("s", "echo", {});
  expect(await at.notes()).toEqual(["start counted", "call echo {}", "start counted", "call echo {}"]);
});

test("a gateway's host starts a server with the first request, whatever the settings say, and stops it when it is idle", async () => {
  const clock = manualClock();
  await using at = await home((path) => ({ s: counted(path) }));
  await using host = await at.host({ clock, recover: true, idleStop: 1000, lazy: true });
  await host.start();
  expect(await at.notes()).toEqual([]);
  const stopped = new Promise((resolve) => {
    host.on("state", ({ state }) => state.status === "disconnected" && resolve(undefined));
  });
  const client = { name: "codex", conversation: "1" };
  const params = { name: "echo", arguments: {} };
  await host.gateway.forward({ client, server: "s", method: "tools/call", params }, { confirmed: true });
  await clock.pass(1000);
  await stopped;
  expect(host.gateway.servers.get("s").facts()).toMatchObject({
    serverInfo: { name: "counted" },
    capabilities: { tools: {} },
  });
  expect(await at.notes()).toEqual(["start counted", "call echo {}"]);
});

test("a tool that goes and comes back as another is changed, and so is one whose list was not to be kept", async () => {
  await using at = await home((path) => ({ s: counted(path) }));
  const pay = (description: string): object[] => [{ name: "pay", description, inputSchema }];
  await at.write("list.json", pay("Pays."));
  await using host = await at.host();
  await host.start();
  for (const list of [[{ name: "other", inputSchema }], pay("Pays twice.")]) {
    await at.write("list.json", list);
    await host.restart(["s"]);
  }
  await expect(host.call("s", "pay", {})).rejects.toMatchObject({ code: "changed" });
});

test("what a server vouches for no longer is not shown, but still what its next list is compared with", async () => {
  const clock = { time: 1_000_000 };
  const options: HostOptions = { now: () => clock.time };
  await using at = await home((path) => ({ s: counted(path) }));
  const list = (description: string): object => ({ ttlMs: 1000, tools: [{ name: "pay", description, inputSchema }] });
  await at.write("list.json", list("Pays."));
  {
    await using host = await at.host(options);
    await host.start();
  }
  clock.time += 1000;
  {
    await using host = await at.host(options);
    expect(host.tools("s")).toHaveLength(1);
  }
  clock.time += 1;
  await at.write("list.json", list("Pays twice."));
  await using host = await at.host(options);
  expect(host.tools("s")).toEqual([]);
  await expect(host.call("s", "pay", {})).rejects.toMatchObject({ code: "changed" });
});

test("an expired catalog that the server lists again unchanged is reported as a catalog, without changed tools", async () => {
  const clock = { time: 1_000_000 };
  const options: HostOptions = { now: () => clock.time };
  await using at = await home((path) => ({ s: counted(path) }));
  await at.write("list.json", { ttlMs: 1000, tools: [{ name: "pay", inputSchema }] });
  const reported: unknown[] = [];
  // The second host shows the cached catalog, and for the third one it has expired.
  for (const later of [0, 1000, 1001]) {
    clock.time += later;
    await using host = await at.host(options);
    const events: unknown[] = [];
    host.on("catalog", ({ lists, tools }) => events.push([lists, tools.added.length, tools.changed.length]));
    await host.start();
    reported.push(events);
  }
  expect(reported).toEqual([[[["tools"], 1, 0]], [], [[["tools"], 0, 0]]]);
});

test("a server that offers what it offered before is known as soon as it is connected, asked for or not", async () => {
  await using at = await home((path) => ({ s: counted(path) }));
  const { loadConfiguration } = await import("../../src/trust/configuration.ts");
  const { openHost } = await import("../../src/host.ts");
  const path = join(at.path, "home");
  const env = { PATH: process.env["PATH"], HOME: path, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(at.path, "none") };
  const environment = { env, home: path, cwd: path, platform: process.platform };
  for (let run = 0; run < 2; run += 1) {
    await using host = openHost(await loadConfiguration({ environment }));
    await host.start();
    expect(host.tools("s")).toHaveLength(2);
  }
});
