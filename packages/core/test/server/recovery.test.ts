import { WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { ConnectionOptions } from "../../src/server/connection.ts";
import { manualClock } from "../support/manual-clock.ts";
import { Fleet } from "./fleet.ts";
import { oneTool, type Script, type ScriptedSession, scriptedSession } from "./scripted-session.ts";

const dead = new WireError("exited", "the server exited with code 3");
const forgotten = new WireError("session_expired", "the session has expired: the server no longer knows its id", {
  httpStatus: 404,
});

type Opening = Script | Error;

interface TestFleet {
  /** One server, `s`: each opening takes the next of these, the last one again and again. */
  readonly openings: readonly [Opening, ...Opening[]];
  readonly isProgram?: boolean;
  readonly recover?: boolean;
  readonly now?: () => number;
}

function testFleet({ openings, isProgram = true, recover = true, now = () => 0 }: TestFleet) {
  const clock = manualClock();
  const sessions: ScriptedSession[] = [];
  let opened = 0;
  const open: ConnectionOptions["open"] = async () => {
    const opening = openings[Math.min(opened, openings.length - 1)] ?? openings[0];
    opened += 1;
    if (opening instanceof Error) throw opening;
    const session = scriptedSession(opening);
    sessions.push(session);
    return session;
  };
  const seen: string[] = [];
  const fleet = new Fleet(
    { s: { open, isProgram } },
    {
      clock,
      recover,
      random: () => 0.5,
      now,
      onState: (state) => seen.push("reason" in state ? `${state.status} ${state.reason}` : state.status),
    },
  );
  return {
    clock,
    client: fleet.get("s"),
    fleet,
    seen,
    openings: () => opened,
    /** The session of now is over for that reason, and all listeners have been told. */
    die: async (cause: WireError = dead): Promise<void> => {
      sessions.at(-1)?.die(cause);
      await new Promise(setImmediate);
    },
  };
}

const exited = new HostError("server_exited", "it is gone", { cause: dead, evidence: "out of rope", next: "look" });
const noOne = new HostError("unreachable", "no server there", { cause: new WireError("unreachable", "refused") });

test("a server that dies once is connected again by itself, after a second", async () => {
  const { clock, client, fleet, seen, die } = testFleet({ openings: [{}] });
  await fleet.start();
  await clock.pass(500);
  await die();
  expect(client.state).toEqual({
    name: "s",
    since: 500,
    status: "disconnected",
    reason: "backoff",
    nextTryAt: 1500,
    because: { reason: "server_exited", message: '"s": the server exited with code 3' },
    message: '"s": the server exited with code 3',
  });
  await clock.pass(999);
  expect(client.getStatus()).toBe("disconnected");
  await clock.pass(1);
  expect(client.filteredCatalog?.offer.tools).toBe(1);
  expect(seen.slice(3)).toEqual([
    "disconnecting",
    "disconnected server_exited",
    "disconnected backoff",
    "connecting",
    "connected",
    "connected",
  ]);
  await fleet.stop();
});

test("one that dies each time it comes back ends in start_limit at the fifth end, and comes back with restart", async () => {
  const { clock, client, fleet, die, openings } = testFleet({ openings: [{}] });
  await fleet.start();
  for (let deaths = 1; deaths < 5; deaths += 1) {
    await die();
    expect(client.state).toMatchObject({ reason: "backoff" });
    await clock.pass(10_000);
    expect(client.getStatus()).toBe("connected");
  }
  await die();
  expect(client.state).toMatchObject({
    status: "disconnected",
    reason: "start_limit",
    message: '"s" failed 5 times within 60 s of its start; last failure: "s": the server exited with code 3',
    next: "fairlead mcp test s",
  });
  await clock.pass(3_600_000);
  await expect(fleet.ready("s")).rejects.toMatchObject({ code: "start_limit" });
  expect(openings()).toBe(5);
  await fleet.restart("s");
  expect(client.getStatus()).toBe("connected");
  // What was held against it is forgotten.
  await die();
  expect(client.state).toMatchObject({ reason: "backoff" });
  await fleet.stop();
});

test("who stays up for a minute has a clean record", async () => {
  const { clock, client, fleet, die } = testFleet({ openings: [{}] });
  await fleet.start();
  for (let deaths = 0; deaths < 8; deaths += 1) {
    await clock.pass(60_000);
    await die();
    expect(client.state).toMatchObject({ reason: "backoff", nextTryAt: clock.now() + 1000 });
    await clock.pass(1000);
  }
  await fleet.stop();
});

describe("the first start", () => {
  test.each<[string, HostError]>([
    ["a program that ends", exited],
    ["no such command", new HostError("command_not_found", "no such command")],
    ["not an MCP server", new HostError("not_mcp", "a page")],
    ["settings", new HostError("settings_invalid", "nonsense")],
    ["a sign-in", new HostError("auth_required", "sign in")],
  ])("%s: not tried again", async (_, error) => {
    const { clock, client, fleet, openings } = testFleet({ openings: [error, {}] });
    await fleet.start();
    await clock.pass(3_600_000);
    expect(openings()).toBe(1);
    expect(client.state).toMatchObject({ reason: error.code });
    await fleet.stop();
  });

  test("a network that is down, or a server without time: tried until it goes", async () => {
    const busy = new WireError("http_status", "the server answered with HTTP status 503", {
      httpStatus: 503,
      retryAfter: "30",
    });
    const { clock, client, fleet } = testFleet({
      openings: [noOne, new HostError("http_status", "no time", { cause: busy }), noOne, {}],
      isProgram: false,
    });
    await fleet.start();
    expect(client.state).toMatchObject({ reason: "backoff", nextTryAt: 1000, because: { reason: "unreachable" } });
    await clock.pass(1000);
    expect(client.state).toMatchObject({ reason: "backoff", nextTryAt: 32_500, because: { reason: "http_status" } });
    await clock.pass(31_500);
    expect(client.state).toMatchObject({ reason: "backoff", nextTryAt: 35_060 });
    await clock.pass(2560);
    expect(client.getStatus()).toBe("connected");
    await fleet.stop();
  });
});

describe("a server in backoff", () => {
  test("is tried at once when it is called, in one attempt for all", async () => {
    const { client, clock, fleet, openings, die } = testFleet({ openings: [{}] });
    await fleet.start();
    await die();
    const ready = await Promise.all([fleet.ready("s"), fleet.ready("s")]);
    expect(ready).toEqual([client, client]);
    expect(openings()).toBe(2);
    await clock.pass(100_000);
    expect(openings()).toBe(2);
    await fleet.stop();
  });

  test("tells a call that fails too why, and waits longer", async () => {
    const { client, fleet, die } = testFleet({ openings: [{}, exited] });
    await fleet.start();
    await die();
    await expect(fleet.ready("s")).rejects.toBe(exited);
    expect(client.state).toMatchObject({ reason: "backoff", nextTryAt: 1600, because: { evidence: "out of rope" } });
    await fleet.stop();
  });

  test.each<[string, (at: ReturnType<typeof testFleet>) => Promise<void>]>([
    ["stop", ({ fleet }) => fleet.stop()],
    ["disconnect", ({ client }) => client.disconnect()],
  ])("is not tried any more after %s, and says why it is not there", async (_, end) => {
    const at = testFleet({ openings: [{}] });
    await at.fleet.start();
    await at.die();
    await end(at);
    expect(at.client.state).toMatchObject({ status: "disconnected", reason: "server_exited" });
    await at.clock.pass(3_600_000);
    expect(at.openings()).toBe(1);
    await at.fleet.stop();
  });
});

test.each([
  ["has exited", dead],
  ["has forgotten us", forgotten],
])("stop is the last word, also about a server that %s and is not quite gone", async (_, cause) => {
  let letGo = (): void => {};
  const closing = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { clock, client, fleet, openings, die } = testFleet({ openings: [{ closing }] });
  await fleet.start();
  await die(cause);
  const stopping = fleet.stop();
  letGo();
  await stopping;
  await clock.pass(3_600_000);
  expect([client.getStatus(), openings()]).toEqual(["disconnected", 1]);
});

test("without recovery nothing comes back by itself", async () => {
  const { clock, client, fleet, openings, die } = testFleet({ openings: [{}], recover: false });
  await fleet.start();
  await die();
  await clock.pass(3_600_000);
  expect(openings()).toBe(1);
  expect(client.state).toMatchObject({ reason: "server_exited" });
});

describe("a forgotten session", () => {
  test("is replaced at once, and is no crash however often it happens", async () => {
    const { clock, client, fleet, seen, die } = testFleet({ openings: [{}], isProgram: false });
    await fleet.start();
    await die(forgotten);
    expect(client.getStatus()).toBe("connected");
    expect(seen).not.toContain("disconnected backoff");
    for (let losses = 0; losses < 8; losses += 1) {
      await die(forgotten);
      await clock.pass(60_000);
      expect(client.getStatus()).toBe("connected");
    }
    await fleet.stop();
  });

  test("is replaced in the middle of reading the lists, too", async () => {
    const { client, fleet, die, openings } = testFleet({ openings: [{ answers: {} }, {}], isProgram: false });
    const starting = fleet.start();
    await new Promise(setImmediate);
    expect(client.getStatus()).toBe("connected");
    await die(forgotten);
    await starting;
    await new Promise(setImmediate);
    expect([client.filteredCatalog?.offer.tools, openings()]).toEqual([1, 2]);
    await fleet.stop();
  });
});

describe("a server that does not respond", () => {
  const silent: Script = { answers: { ...oneTool }, verdict: { era: "legacy", transport: "http" } };

  test("after two calls that timed out: disconnected, and brought back", async () => {
    const late = new WireError("timeout", "no sign of life");
    const { clock, client, fleet, openings } = testFleet({
      openings: [{ ...silent, answers: { ...oneTool, "tools/call": late } }, {}],
      isProgram: false,
    });
    await fleet.start();
    for (let calls = 0; calls < 2; calls += 1)
      await expect(client.callTool("echo", {})).rejects.toMatchObject({ code: "call_timeout" });
    await clock.pass(5000);
    expect(client.state).toMatchObject({
      reason: "backoff",
      because: { message: '"s" does not respond: no response to ping within 5 s' },
    });
    await clock.pass(1000);
    expect([client.getStatus(), openings()]).toEqual(["connected", 2]);
    await fleet.stop();
  });

  test("after a sleep: without recovery, no server is checked", async () => {
    let asleep = 0;
    const { clock, client, fleet } = testFleet({
      openings: [{ answers: oneTool, verdict: { era: "legacy", transport: "http" } }],
      isProgram: false,
      recover: false,
      now: () => asleep,
    });
    await fleet.start();
    asleep = 8 * 3_600_000;
    await clock.pass(10_000 + 5000 + 5000);
    expect(client.getStatus()).toBe("connected");
    await fleet.stop();
  });

  test("after a sleep: only those reached over a network are asked, within five seconds", async () => {
    for (const transport of ["http", "stdio"] as const) {
      let asleep = 0;
      const { clock, client, fleet } = testFleet({
        openings: [{ answers: oneTool, verdict: { era: "legacy", transport } }],
        isProgram: transport === "stdio",
        now: () => asleep,
      });
      await fleet.start();
      await clock.pass(100_000);
      asleep = 8 * 3_600_000;
      await clock.pass(10_000 + 2500 + 5000);
      expect(client.getStatus(), transport).toBe(transport === "http" ? "disconnected" : "connected");
      await fleet.stop();
    }
  });
});
