import { WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { OpenOptions } from "../../src/connect/open-session.ts";
import { HostError } from "../../src/errors.ts";
import { createEmitter } from "../../src/events.ts";
import { Connection, type ConnectionOptions } from "../../src/server/connection.ts";
import { ServerManager, type StartableServer } from "../../src/server/server-manager.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { scriptedSession } from "./scripted-session.ts";

type Open = ConnectionOptions["open"];

const opens: Open = async () => scriptedSession();
/** Until it is called off. */
const hangs: Open = ({ signal }: OpenOptions) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new HostError("cancelled", "called off")), { once: true });
  });
const fails: Open = () => Promise.reject(new HostError("server_exited", "it is gone"));

interface Fleet {
  readonly manager: ServerManager;
  readonly clock: ManualClock;
  /** `name status` of every change, and `discovery state`. */
  readonly seen: readonly string[];
  /** Resolves when the event has been seen. */
  until(event: string): Promise<void>;
}

function fleet(servers: Readonly<Record<string, Open | (Omit<StartableServer, "client"> & { open: Open })>>): Fleet {
  const clock = manualClock();
  const { on, emit } = createEmitter();
  const seen: string[] = [];
  const waiting = new Map<string, () => void>();
  const note = (event: string): void => {
    seen.push(event);
    waiting.get(event)?.();
  };
  on("state", ({ state }) => {
    const detail = state.status === "connected" && state.offer ? " discovered" : "";
    note(`${state.name} ${state.status}${detail}`);
  });
  on("discovery", ({ state }) => note(`discovery ${state}`));
  const managed = Object.entries(servers).map(([name, given]) => {
    const { open, ...how } = typeof given === "function" ? { open: given } : given;
    const client = new Connection({
      definition: { name, excludeTools: [] },
      open,
      connectTimeout: 30_000,
      clock,
      onState: (state) => emit({ type: "state", state }),
    });
    return { client, ...how };
  });
  const blocked = { name: "out", since: 0, status: "blocked", reason: "excluded", message: "out is excluded" } as const;
  return {
    manager: new ServerManager({ servers: [...managed, { state: blocked }], emit, clock }),
    clock,
    seen,
    until: (event) =>
      seen.includes(event) ? Promise.resolve() : new Promise((resolve) => waiting.set(event, resolve)),
  };
}

const statuses = ({ manager }: Fleet) => Object.fromEntries(manager.states().map(({ name, status }) => [name, status]));

describe("discoverAllMcpTools", () => {
  test("connects to all, completes when all have answered or failed, and one failure is nobody else's", async () => {
    const ships = fleet({ a: opens, b: fails, c: opens });
    const { manager, seen } = ships;
    expect(manager.getDiscoveryState()).toBe("not_started");
    const discovering = manager.discoverAllMcpTools();
    expect(manager.getDiscoveryState()).toBe("in_progress");
    await discovering;
    expect(manager.getDiscoveryState()).toBe("completed");
    expect(statuses(ships)).toEqual({ a: "connected", b: "disconnected", c: "connected", out: "blocked" });
    expect(seen.filter((event) => event.startsWith("a "))).toEqual([
      "a connecting",
      "a connected",
      "a connected discovered",
    ]);
    expect([seen[0], seen.at(-1)]).toEqual(["discovery in_progress", "discovery completed"]);
    await manager.stop();
  });

  test("with one of ten never answering, the nine are connected and only the tenth is waited for", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    const ships = fleet({ silent: { open: hangs, isProgram: true }, ...program(names, opens) });
    const discovering = ships.manager.discoverAllMcpTools();
    await Promise.all(names.map((name) => ships.until(`${name} connected discovered`)));
    expect(statuses(ships)).toMatchObject({ silent: "connecting" });
    expect(ships.manager.getDiscoveryState()).toBe("in_progress");
    await ships.manager.stop();
    await discovering;
    expect(ships.seen.at(-1)).toBe("discovery completed");
  });

  test("leaves out those that wait for their first use", async () => {
    const ships = fleet({ a: opens, lazy: { open: opens, isLazy: true } });
    await ships.manager.discoverAllMcpTools();
    expect(statuses(ships)).toMatchObject({ a: "connected", lazy: "disconnected" });
    await ships.manager.start("lazy");
    expect(statuses(ships)).toMatchObject({ lazy: "connected" });
  });
});

describe("the start limit", () => {
  test("keeps programs from starting all at once, and only programs", async () => {
    const ships = fleet({ ...program(["a", "b", "c", "d", "e"], hangs), web: hangs });
    const discovering = ships.manager.discoverAllMcpTools();
    await new Promise(setImmediate);
    expect(statuses(ships)).toMatchObject({ d: "connecting", e: "disconnected", web: "connecting" });
    await ships.manager.stop();
    await discovering;
    expect(ships.seen).not.toContain("e connecting");
  });

  test("is not held by servers that hang: after a while the next ones start", async () => {
    const ships = fleet({ ...program(["a", "b", "c", "d"], hangs), ...program(["e", "f"], opens) });
    const discovering = ships.manager.discoverAllMcpTools();
    await ships.clock.pass(1999);
    expect(statuses(ships)).toMatchObject({ e: "disconnected" });
    await ships.clock.pass(1);
    expect(statuses(ships)).toMatchObject({ a: "connecting", d: "connecting", e: "connected", f: "connected" });
    await ships.manager.stop();
    await discovering;
  });
});

function program(names: readonly string[], open: Open) {
  return Object.fromEntries(names.map((name) => [name, { open, isProgram: true }]));
}

/** Counts how often it is opened; each opening waits for the test. */
function gate() {
  const waiting: (() => void)[] = [];
  const open: Open = async ({ signal }) => {
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      signal.addEventListener("abort", () => reject(new HostError("cancelled", "called off")));
    });
    return scriptedSession();
  };
  return { open, count: () => waiting.length, letIn: () => waiting.at(-1)?.() };
}

describe("start", () => {
  test("while one is connecting shares the attempt; a connected one is left alone", async () => {
    const { open, count, letIn } = gate();
    const ships = fleet({ a: open });
    const starts = Promise.all([ships.manager.start(), ships.manager.start("a"), ships.manager.ready("a")]);
    await new Promise(setImmediate);
    letIn();
    await starts;
    await ships.manager.start();
    expect(count()).toBe(1);
    expect(ships.seen).toEqual([
      "discovery in_progress",
      "a connecting",
      "a connected",
      "a connected discovered",
      "discovery completed",
      "discovery in_progress",
      "discovery completed",
    ]);
  });

  test("tries a server that failed, or wanted a person to sign in, once more", async () => {
    const failures = [new HostError("server_exited", "gone"), new HostError("auth_required", "sign in")];
    const ships = fleet({
      a: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return scriptedSession();
      },
    });
    for (const status of ["disconnected", "needs_auth", "connected"]) {
      await ships.manager.start("a");
      expect(statuses(ships)).toMatchObject({ a: status });
    }
  });

  test("of a name that is not there is refused, with the nearest one", async () => {
    const { manager } = fleet({ github: opens });
    await expect(manager.start("githb")).rejects.toMatchObject({
      code: "server_unknown",
      message: 'there is no server "githb"; did you mean "github"?',
    });
    await manager.start([]);
    expect(manager.states()[0]).toMatchObject({ status: "disconnected" });
  });

  test("of a server that may not start changes nothing", async () => {
    const ships = fleet({});
    await ships.manager.start("out");
    expect(ships.manager.getClient("out")).toBeUndefined();
    expect(statuses(ships)).toEqual({ out: "blocked" });
  });
});

describe("stop", () => {
  test("in the middle of everything: what waits, connects, is being read or connected is over, and nobody is left waiting", async () => {
    const silent = () => scriptedSession({ answers: {} });
    const ships = fleet({
      reading: async () => silent(),
      connected: opens,
      ...program(["connecting", "c", "d", "e", "waiting"], hangs),
    });
    const discovering = ships.manager.discoverAllMcpTools();
    const calls = ["reading", "connecting", "waiting"].map((name) => ships.manager.ready(name));
    const settled = Promise.allSettled(calls);
    await Promise.all([ships.until("connected connected discovered"), ships.until("reading connected")]);
    expect(statuses(ships)).toMatchObject({ connecting: "connecting", waiting: "disconnected" });
    await ships.manager.stop();
    expect(
      ships.manager
        .states()
        .slice(0, -1)
        .every(({ status }) => status === "disconnected"),
    ).toBe(true);
    expect(ships.manager.states()).toContainEqual(expect.objectContaining({ name: "reading", reason: "lazy" }));
    for (const call of await settled) expect(call).toMatchObject({ status: "rejected", reason: { code: "cancelled" } });
    await discovering;
  });

  test("resolves only when nothing is left; a start meanwhile waits for that", async () => {
    let letGo = (): void => {};
    const closing = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const sessions = [scriptedSession({ closing }), scriptedSession()];
    const ships = fleet({ a: async () => sessions.shift() ?? scriptedSession() });
    await ships.manager.start();
    let isStopped = false;
    const stopping = ships.manager.stop().then(() => {
      isStopped = true;
    });
    const starting = ships.manager.start();
    await new Promise(setImmediate);
    expect({ isStopped, ...statuses(ships) }).toMatchObject({ isStopped: false, a: "disconnecting" });
    letGo();
    await stopping;
    await starting;
    expect(ships.seen.filter((event) => event.startsWith("a "))).toEqual([
      "a connecting",
      "a connected",
      "a connected discovered",
      "a disconnecting",
      "a disconnected",
      "a connecting",
      "a connected",
      "a connected discovered",
    ]);
  });
});

describe("restart", () => {
  test("ends a connection and makes a new one; the others do not notice", async () => {
    const { open, count, letIn } = gate();
    const ships = fleet({ a: open, b: opens });
    const starting = ships.manager.start();
    await new Promise(setImmediate);
    letIn();
    await starting;
    const restarting = ships.manager.restart("a");
    await ships.until("a disconnected");
    await new Promise(setImmediate);
    letIn();
    await restarting;
    expect(count()).toBe(2);
    expect(statuses(ships)).toMatchObject({ a: "connected", b: "connected" });
    expect(ships.seen.filter((event) => event.startsWith("b "))).toHaveLength(3);
  });

  test("calls off an attempt that hangs, also one that still waits for its place", async () => {
    const { open, count, letIn } = gate();
    const ships = fleet({ a: open, ...program(["b", "c", "d", "e", "f"], hangs) });
    const starting = ships.manager.start();
    await new Promise(setImmediate);
    const restarting = ships.manager.restart(["a", "f"]);
    await ships.until("a disconnected");
    await new Promise(setImmediate);
    letIn();
    await ships.until("a connected discovered");
    expect(count()).toBe(2);
    await ships.manager.stop();
    await Promise.all([starting, restarting]);
  });
});

describe("ready", () => {
  test("while it is restarted, once or twice, waits for the end of that", async () => {
    const ships = fleet({ a: opens });
    await ships.manager.start();
    const first = ships.manager.restart("a");
    const between = ships.manager.ready("a");
    const second = ships.manager.restart("a");
    const after = ships.manager.ready("a");
    const clients = await Promise.all([between, after]);
    expect(clients.map(({ filteredCatalog }) => filteredCatalog?.offer.tools)).toEqual([1, 1]);
    await Promise.all([first, second]);
    expect(statuses(ships)).toMatchObject({ a: "connected" });
  });

  test("waits on when the attempt that it waits for is called off by a restart", async () => {
    const { open, letIn } = gate();
    const ships = fleet({ a: open });
    const waiting = ships.manager.ready("a");
    await new Promise(setImmediate);
    const restarting = ships.manager.restart("a");
    await ships.until("a disconnected");
    await new Promise(setImmediate);
    letIn();
    expect((await waiting).getStatus()).toBe("connected");
    await restarting;
  });

  test("is over when a restart is: what is stopped in the middle of one stays so", async () => {
    const ships = fleet({ a: opens });
    await ships.manager.start();
    const restarting = ships.manager.restart("a");
    const waiting = expect(ships.manager.ready("a")).rejects.toMatchObject({ code: "cancelled" });
    await ships.manager.stop("a");
    await waiting;
    await restarting;
    expect(statuses(ships)).toMatchObject({ a: "disconnected" });
  });

  test("gives the client, connected and discovered", async () => {
    const { manager } = fleet({ a: opens });
    const client = await manager.ready("a");
    expect(client).toBe(manager.getClient("a"));
    expect(client.filteredCatalog?.offer.tools).toBe(1);
    expect(manager.getDiscoveryState()).toBe("not_started");
  });

  test("says why not", async () => {
    const { manager } = fleet({ a: fails });
    await expect(manager.ready("a")).rejects.toMatchObject({ code: "server_exited", message: "it is gone" });
    await expect(manager.ready("out")).rejects.toMatchObject({ code: "denied", message: "out is excluded" });
    await expect(manager.ready("b")).rejects.toMatchObject({ code: "server_unknown" });
  });

  test("may be left; the attempt goes on for those who stay", async () => {
    const { open, letIn } = gate();
    const { manager } = fleet({ a: open });
    const stop = new AbortController();
    const leaving = expect(manager.ready("a", stop.signal)).rejects.toMatchObject({ code: "cancelled" });
    const staying = manager.ready("a");
    stop.abort();
    await leaving;
    letIn();
    expect((await staying).getStatus()).toBe("connected");
  });

  test("connects again after a server has died, once nothing of it is left", async () => {
    const sessions = [scriptedSession(), scriptedSession()];
    const [first] = sessions;
    const ships = fleet({ a: async () => sessions.shift() ?? scriptedSession() });
    await ships.manager.start();
    first?.die(new WireError("exited", "the server exited with code 1"));
    await ships.until("a disconnecting");
    expect((await ships.manager.ready("a")).getStatus()).toBe("connected");
    expect(ships.seen.filter((event) => event === "a disconnected")).toHaveLength(1);
  });
});
