import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { HostEvent, ServerState } from "../../src/events.ts";
import { Connection } from "../../src/server/connection.ts";
import { type ManagedServer, ServerManager } from "../../src/server/server-manager.ts";
import { manualClock } from "../support/manual-clock.ts";
import { scriptedSession } from "./scripted-session.ts";

function testHarbour() {
  const clock = manualClock();
  const seen: string[] = [];
  const events: HostEvent[] = [];
  const server = (name: string, fingerprint?: string, more: object = {}): ManagedServer & { client: Connection } => ({
    client: new Connection({
      definition: { name, excludeTools: [] },
      open: async () => scriptedSession(),
      connectTimeout: 30_000,
      clock,
      onState: ({ status }) => seen.push(`${name} ${status}`),
    }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...more,
  });
  const blocked = (name: string, message = "no"): ManagedServer => ({
    state: { name, since: clock.now(), status: "blocked", reason: "excluded", message },
  });
  const managerOf = (...servers: ManagedServer[]) =>
    new ServerManager({ servers, clock, recover: true, random: () => 0.5, emit: (event) => events.push(event) });
  return { clock, seen, events, server, blocked, managerOf };
}

const names = (manager: ServerManager): readonly string[] => manager.states().map(({ name }) => name);

describe("update", () => {
  test("who has the same fingerprint goes on untouched; others are ended, replaced, added", async () => {
    const { seen, events, server, managerOf } = testHarbour();
    const manager = managerOf(server("same", "1"), server("other", "1"), server("gone", "1"), server("unknown"));
    await manager.start();
    const [same, other] = [manager.getClient("same"), manager.getClient("other")];
    seen.length = 0;
    const renewed = server("other", "2");
    const changes = await manager.update([server("new", "1"), renewed, server("same", "1"), server("unknown")]);
    expect(changes).toEqual({
      kept: ["same"],
      replaced: ["other", "unknown"],
      added: ["new"],
      removed: ["gone"],
    });
    expect(events.at(-1)).toEqual({ type: "servers", ...changes });
    expect(names(manager)).toEqual(["new", "other", "same", "unknown"]);
    expect([manager.getClient("same"), manager.getClient("other")]).toEqual([same, renewed.client]);
    expect([same?.getStatus(), other?.getStatus(), renewed.client.getStatus()]).toEqual([
      "connected",
      "disconnected",
      "disconnected",
    ]);
    expect(seen.filter((event) => event.startsWith("same"))).toEqual([]);
    await manager.discoverAllMcpTools();
    expect(manager.states().map(({ status }) => status)).toEqual(["connected", "connected", "connected", "connected"]);
    expect(seen.filter((event) => event.startsWith("same"))).toEqual([]);
    await manager.stop();
  });

  test("who is kept takes what is not of its settings from the new one", async () => {
    const { server, managerOf } = testHarbour();
    const manager = managerOf(server("a", "1"));
    await manager.update([server("a", "1", { isLazy: true })]);
    await manager.discoverAllMcpTools();
    expect(manager.states()).toMatchObject([{ status: "disconnected", reason: "lazy" }]);
  });

  test("between what may start and what may not, everything is a replacement", async () => {
    const { clock, server, blocked, managerOf } = testHarbour();
    const manager = managerOf(server("a", "1"), blocked("b"), blocked("c"), blocked("d"));
    await manager.start();
    await clock.pass(10);
    const changes = await manager.update([blocked("a"), server("b", "1"), blocked("c"), blocked("d", "not now")]);
    expect(changes).toEqual({ kept: ["c"], replaced: ["a", "b", "d"], added: [], removed: [] });
    expect(manager.states()).toMatchObject([
      { status: "blocked" },
      { status: "disconnected" },
      { status: "blocked", since: 0 },
      { status: "blocked", since: 10, message: "not now" },
    ] satisfies Partial<ServerState>[]);
  });

  test("calls off what is being tried, and a name that is gone is not known any more", async () => {
    const { clock, managerOf } = testHarbour();
    const client = new Connection({
      definition: { name: "slow", excludeTools: [] },
      open: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new HostError("cancelled", "called off")), { once: true });
        }),
      connectTimeout: 30_000,
      clock,
    });
    const manager = managerOf({ client, fingerprint: "1" });
    const called = expect(manager.ready("slow")).rejects.toMatchObject({ code: "cancelled" });
    await new Promise(setImmediate);
    await manager.update([]);
    await called;
    expect([client.getStatus(), names(manager)]).toEqual(["disconnected", []]);
    await expect(manager.ready("slow")).rejects.toMatchObject({ code: "server_unknown" });
  });

  test("who was replaced is not brought back", async () => {
    const { clock, seen, server, managerOf } = testHarbour();
    const old = server("a", "1");
    const manager = managerOf(old);
    await manager.start();
    await manager.update([server("a", "2")]);
    seen.length = 0;
    await clock.pass(3_600_000);
    expect(seen).toEqual([]);
  });
});
