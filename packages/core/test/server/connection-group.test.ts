import { WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { OpenOptions } from "../../src/connect/open-session.ts";
import { HostError } from "../../src/errors.ts";
import type { ConnectionOptions } from "../../src/server/connection.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { Fleet, type FleetServer } from "./fleet.ts";
import { scriptedSession } from "./scripted-session.ts";

type Open = ConnectionOptions["open"];

const opens: Open = async () => scriptedSession();
/** Until it is called off. */
const hangs: Open = ({ signal }: OpenOptions) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new HostError("cancelled", "called off")), { once: true });
  });
const fails: Open = () => Promise.reject(new HostError("server_exited", "it is gone"));

interface Harbour {
  readonly fleet: Fleet;
  readonly clock: ManualClock;
  /** `name status` of every change, and `discovery state`. */
  readonly seen: readonly string[];
  /** Resolves when the event has been seen. */
  until(event: string): Promise<void>;
}

function harbour(servers: Readonly<Record<string, Open | FleetServer>>): Harbour {
  const clock = manualClock();
  const seen: string[] = [];
  const waiting = new Map<string, () => void>();
  const note = (event: string): void => {
    seen.push(event);
    waiting.get(event)?.();
  };
  const fleet = new Fleet(
    Object.fromEntries(
      Object.entries(servers).map(([name, given]) => [name, typeof given === "function" ? { open: given } : given]),
    ),
    {
      clock,
      onState(state) {
        const detail = state.status === "connected" && state.offer ? " discovered" : "";
        note(`${state.name} ${state.status}${detail}`);
      },
      onDiscovery: (state) => note(`discovery ${state}`),
    },
  );
  return {
    fleet,
    clock,
    seen,
    until: (event) =>
      seen.includes(event) ? Promise.resolve() : new Promise((resolve) => waiting.set(event, resolve)),
  };
}

const statuses = ({ fleet }: Harbour) => Object.fromEntries(fleet.states().map(({ name, status }) => [name, status]));

describe("the start of all", () => {
  test("connects to all, completes when all have answered or failed, and one failure does not affect the others", async () => {
    const ships = harbour({ a: opens, b: fails, c: opens });
    const { fleet, seen } = ships;
    expect(fleet.group.discoveryState).toBe("not_started");
    const discovering = fleet.start();
    expect(fleet.group.discoveryState).toBe("in_progress");
    await discovering;
    expect(fleet.group.discoveryState).toBe("completed");
    expect(statuses(ships)).toEqual({ a: "connected", b: "disconnected", c: "connected" });
    expect(seen.filter((event) => event.startsWith("a "))).toEqual([
      "a connecting",
      "a connected",
      "a connected discovered",
    ]);
    expect([seen[0], seen.at(-1)]).toEqual(["discovery in_progress", "discovery completed"]);
    await fleet.stop();
  });

  test("with one of ten never answering, the nine are connected and only the tenth is waited for", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    const ships = harbour({ silent: { open: hangs, isProgram: true }, ...program(names, opens) });
    const discovering = ships.fleet.start();
    await Promise.all(names.map((name) => ships.until(`${name} connected discovered`)));
    expect(statuses(ships)).toMatchObject({ silent: "connecting" });
    expect(ships.fleet.group.discoveryState).toBe("in_progress");
    await ships.fleet.stop();
    await discovering;
    expect(ships.seen.at(-1)).toBe("discovery completed");
  });
});

describe("the start limit", () => {
  test("keeps programs from starting all at once, and only programs", async () => {
    const ships = harbour({ ...program(["a", "b", "c", "d", "e"], hangs), web: hangs });
    const discovering = ships.fleet.start();
    await new Promise(setImmediate);
    expect(statuses(ships)).toMatchObject({ d: "connecting", e: "disconnected", web: "connecting" });
    await ships.fleet.stop();
    await discovering;
    expect(ships.seen).not.toContain("e connecting");
  });

  test("is not held by servers that hang: after a while the next ones start", async () => {
    const ships = harbour({ ...program(["a", "b", "c", "d"], hangs), ...program(["e", "f"], opens) });
    const discovering = ships.fleet.start();
    await ships.clock.pass(1999);
    expect(statuses(ships)).toMatchObject({ e: "disconnected" });
    await ships.clock.pass(1);
    expect(statuses(ships)).toMatchObject({ a: "connecting", d: "connecting", e: "connected", f: "connected" });
    await ships.fleet.stop();
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
    const ships = harbour({ a: open });
    const starts = Promise.all([ships.fleet.start(), ships.fleet.start("a"), ships.fleet.ready("a")]);
    await new Promise(setImmediate);
    letIn();
    await starts;
    await ships.fleet.start();
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
    const ships = harbour({
      a: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return scriptedSession();
      },
    });
    for (const status of ["disconnected", "needs_auth", "connected"]) {
      await ships.fleet.start("a");
      expect(statuses(ships)).toMatchObject({ a: status });
    }
  });
});

describe("stop", () => {
  test("in the middle of everything: what waits, connects, is being read or connected is over, and no caller is left waiting", async () => {
    const silent = () => scriptedSession({ answers: {} });
    const ships = harbour({
      reading: async () => silent(),
      connected: opens,
      ...program(["connecting", "c", "d", "e", "waiting"], hangs),
    });
    const discovering = ships.fleet.start();
    const calls = ["reading", "connecting", "waiting"].map((name) => ships.fleet.ready(name));
    const settled = Promise.allSettled(calls);
    await Promise.all([ships.until("connected connected discovered"), ships.until("reading connected")]);
    expect(statuses(ships)).toMatchObject({ connecting: "connecting", waiting: "disconnected" });
    await ships.fleet.stop();
    expect(ships.fleet.states().every(({ status }) => status === "disconnected")).toBe(true);
    expect(ships.fleet.states()).toContainEqual(expect.objectContaining({ name: "reading", reason: "lazy" }));
    for (const call of await settled) expect(call).toMatchObject({ status: "rejected", reason: { code: "cancelled" } });
    await discovering;
  });

  test("resolves only when nothing is left; a start meanwhile waits for that", async () => {
    let letGo = (): void => {};
    const closing = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const sessions = [scriptedSession({ closing }), scriptedSession()];
    const ships = harbour({ a: async () => sessions.shift() ?? scriptedSession() });
    await ships.fleet.start();
    let isStopped = false;
    const stopping = ships.fleet.stop().then(() => {
      isStopped = true;
    });
    const starting = ships.fleet.start();
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
    const ships = harbour({ a: open, b: opens });
    const starting = ships.fleet.start();
    await new Promise(setImmediate);
    letIn();
    await starting;
    const restarting = ships.fleet.restart("a");
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
    const ships = harbour({ a: open, ...program(["b", "c", "d", "e", "f"], hangs) });
    const starting = ships.fleet.start();
    await new Promise(setImmediate);
    const restarting = ships.fleet.restart("a", "f");
    await ships.until("a disconnected");
    await new Promise(setImmediate);
    letIn();
    await ships.until("a connected discovered");
    expect(count()).toBe(2);
    await ships.fleet.stop();
    await Promise.all([starting, restarting]);
  });
});

describe("ready", () => {
  test("while it is restarted, once or twice, waits for the end of that", async () => {
    const ships = harbour({ a: opens });
    await ships.fleet.start();
    const first = ships.fleet.restart("a");
    const between = ships.fleet.ready("a");
    const second = ships.fleet.restart("a");
    const after = ships.fleet.ready("a");
    const clients = await Promise.all([between, after]);
    expect(clients.map(({ filteredCatalog }) => filteredCatalog?.offer.tools)).toEqual([1, 1]);
    await Promise.all([first, second]);
    expect(statuses(ships)).toMatchObject({ a: "connected" });
  });

  test("waits on when the attempt that it waits for is called off by a restart", async () => {
    const { open, letIn } = gate();
    const ships = harbour({ a: open });
    const waiting = ships.fleet.ready("a");
    await new Promise(setImmediate);
    const restarting = ships.fleet.restart("a");
    await ships.until("a disconnected");
    await new Promise(setImmediate);
    letIn();
    expect((await waiting).getStatus()).toBe("connected");
    await restarting;
  });

  test("is over when a restart is: what is stopped in the middle of one stays so", async () => {
    const ships = harbour({ a: opens });
    await ships.fleet.start();
    const restarting = ships.fleet.restart("a");
    const waiting = expect(ships.fleet.ready("a")).rejects.toMatchObject({ code: "cancelled" });
    await ships.fleet.stop("a");
    await waiting;
    await restarting;
    expect(statuses(ships)).toMatchObject({ a: "disconnected" });
  });

  test("gives the client, connected and discovered", async () => {
    const { fleet } = harbour({ a: opens });
    const client = await fleet.ready("a");
    expect(client).toBe(fleet.get("a"));
    expect(client.filteredCatalog?.offer.tools).toBe(1);
    expect(fleet.group.discoveryState).toBe("not_started");
  });

  test("says why not", async () => {
    const { fleet } = harbour({ a: fails });
    await expect(fleet.ready("a")).rejects.toMatchObject({ code: "server_exited", message: "it is gone" });
  });

  test("may be left; the attempt goes on for those who stay", async () => {
    const { open, letIn } = gate();
    const { fleet } = harbour({ a: open });
    const stop = new AbortController();
    const leaving = expect(fleet.ready("a", stop.signal)).rejects.toMatchObject({ code: "cancelled" });
    const staying = fleet.ready("a");
    stop.abort();
    await leaving;
    letIn();
    expect((await staying).getStatus()).toBe("connected");
  });

  test("connects again after a server has died, once nothing of it is left", async () => {
    const sessions = [scriptedSession(), scriptedSession()];
    const [first] = sessions;
    const ships = harbour({ a: async () => sessions.shift() ?? scriptedSession() });
    await ships.fleet.start();
    first?.die(new WireError("exited", "the server exited with code 1"));
    await ships.until("a disconnecting");
    expect((await ships.fleet.ready("a")).getStatus()).toBe("connected");
    expect(ships.seen.filter((event) => event === "a disconnected")).toHaveLength(1);
  });
});
