/** Real programs and a host that stays: servers are killed, and come back. */

import { type StdioProgram, scaled, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { connect, createProcessRegistry } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import type { HostEvent, ServerState } from "../../src/events.ts";
import { createEmitter } from "../../src/events.ts";
import type { ConnectionOptions } from "../../src/server/connection.ts";
import { manualClock } from "../support/manual-clock.ts";
import { Fleet } from "./fleet.ts";

interface Harbour extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly events: readonly HostEvent[];
  call(server: string, tool: string, args?: object): Promise<string>;
  /** Resolves with the first such state from now on. */
  next(isIt: (state: ServerState) => boolean): Promise<ServerState>;
  until(isIt: (event: HostEvent) => boolean): Promise<HostEvent>;
}

async function testHarbour(programs: Readonly<Record<string, StdioProgram>>, clock: Clock): Promise<Harbour> {
  const folder = await temporaryFolder();
  const keeper = createProcessRegistry();
  const { on, emit } = createEmitter();
  const events: HostEvent[] = [];
  const servers = Object.entries(programs).map(([name, program]) => {
    const open: ConnectionOptions["open"] = ({ signal, onNotification }) =>
      connect(
        { kind: "stdio", ...stdioServer(program), env: { PATH: process.env["PATH"] ?? "" }, cwd: folder.path },
        { clientInfo: { name: "test", version: "1" }, processes: keeper, era: "legacy", signal, onNotification },
      );
    return [name, { open, isProgram: true }] as const;
  });
  const fleet = new Fleet(Object.fromEntries(servers), {
    clock,
    recover: true,
    random: () => 0.5,
    now: () => 0,
    onState: (state) => emit({ type: "state", state }),
    onNews: emit,
  });
  for (const type of ["state", "catalog", "refresh_failed"] as const) on(type, (event) => void events.push(event));
  return {
    fleet,
    events,
    async call(server, tool, args = {}) {
      const client = await fleet.ready(server);
      const { content } = await client.callTool(tool, { ...args });
      const [block] = content;
      return block?.type === "text" ? block.text : "";
    },
    next: (isIt) =>
      new Promise((resolve) => {
        const stop = on("state", ({ state }) => {
          if (!isIt(state)) return;
          stop();
          resolve(state);
        });
      }),
    until: (isIt) =>
      new Promise((resolve) => {
        const found = events.find(isIt);
        if (found) return resolve(found);
        const stops = (["state", "catalog", "refresh_failed"] as const).map((type) =>
          on(type, (event) => {
            if (!isIt(event)) return;
            for (const stop of stops) stop();
            resolve(event);
          }),
        );
      }),
    async [Symbol.asyncDispose]() {
      await fleet.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const isUp = (state: ServerState): boolean => state.status === "connected" && state.offer !== undefined;
const isDown = (state: ServerState): boolean =>
  state.status === "disconnected" && (state.reason === "backoff" || state.reason === "start_limit");

/** Kills the program without a warning, and resolves when that is known. */
async function kill(at: Harbour, name: string): Promise<ServerState> {
  const { state } = at.fleet.get(name);
  const down = at.next(isDown);
  process.kill(Number(state.status === "connected" && state.peer.serverInfo.version), "SIGKILL");
  return down;
}

test("a program that is killed once is connected again by itself; its neighbour does not notice", async () => {
  const clock = manualClock();
  await using at = await testHarbour({ a: "mortal", b: "well-behaved" }, clock);
  await at.fleet.start();
  expect(await kill(at, "a")).toMatchObject({
    reason: "backoff",
    nextTryAt: 1000,
    because: { reason: "server_exited" },
  });
  const up = at.next(isUp);
  await clock.pass(1000);
  expect(await up).toMatchObject({ name: "a", status: "connected" });
  expect(await at.call("a", "echo", { text: "back" })).toBe("back");
  expect(at.events.filter((event) => event.type === "state" && event.state.name === "b")).toHaveLength(3);
});

test("a program that is killed each time it comes back ends, at the fifth, in start_limit, and comes back with restart", async () => {
  const clock = manualClock();
  await using at = await testHarbour({ a: "mortal" }, clock);
  await at.fleet.start();
  for (let kills = 1; kills < 5; kills += 1) {
    expect(await kill(at, "a")).toMatchObject({ reason: "backoff" });
    const up = at.next(isUp);
    await clock.pass(10_000);
    await up;
  }
  expect(await kill(at, "a")).toMatchObject({
    status: "disconnected",
    reason: "start_limit",
    message: expect.stringMatching(/^"a" failed 5 times within 60 s of its start; last failure: .*SIGKILL/),
    next: "fairlead mcp test a",
  });
  await expect(at.call("a", "echo", { text: "?" })).rejects.toMatchObject({ code: "start_limit" });
  await at.fleet.restart("a");
  expect(await at.call("a", "echo", { text: "back" })).toBe("back");
});

test("a call that is open when its server is killed says that its outcome is unknown", async () => {
  await using at = await testHarbour({ a: "mortal" }, manualClock());
  await at.fleet.start();
  const client = await at.fleet.ready("a");
  const { state } = client;
  const pid = Number(state.status === "connected" && state.peer.serverInfo.version);
  process.kill(pid, "SIGSTOP");
  const call = expect(client.callTool("echo", { text: "x" })).rejects.toMatchObject({ code: "lost" });
  await new Promise(setImmediate);
  process.kill(pid, "SIGKILL");
  await call;
});

test("a storm of news costs at most five readings, and calls to another server go on", async () => {
  await using at = await testHarbour({ storm: "restless", calm: "restless" }, systemClock);
  await at.fleet.start();
  const storm = at.call("storm", "storm", { times: scaled(200_000) });
  const calls = Promise.all(Array.from({ length: 50 }, () => at.call("calm", "count")));
  expect(new Set(await calls)).toEqual(new Set(["1"]));
  await storm;
  const isLate = (event: HostEvent): boolean =>
    event.type === "catalog" && event.server === "storm" && event.tools.added.includes("late");
  await at.until(isLate);
  expect(Number(await at.call("storm", "count"))).toBeLessThanOrEqual(5);
  expect(await at.call("calm", "count")).toBe("1");
  expect((await at.fleet.ready("storm")).filteredCatalog?.offer.tools).toBe(3);
});
