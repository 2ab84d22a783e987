/** Versions of rules and settings: every replica applies them in order, and keeps what works. */

import { postgresVersion, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import type { Session } from "@fairlead/wire";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConfigKind } from "../../src/store/configs.ts";
import type { TeamStore } from "../../src/store/store.ts";
import {
  conformanceServer,
  type ReplicaProcess,
  sharedStore,
  type TeamScene,
  teamScene,
} from "../support/team-scene.ts";

const deny = '[[rule]]\nmcpName = "suite"\ntoolName = "test_simple_text"\ndecision = "deny"\npriority = 900\n';
const empty = "# nothing\n";

describe.runIf(postgresVersion() !== undefined)("versions of rules and settings", () => {
  let database: TestDatabase;
  let upstream: Awaited<ReturnType<typeof conformanceServer>>;
  let scene: TeamScene;
  let replicas: readonly ReplicaProcess[];
  let store: TeamStore;

  beforeAll(async () => {
    const found = await testDatabase("versions of rules and settings");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
    upstream = await conformanceServer();
    scene = await teamScene(database, { servers: { suite: { httpUrl: upstream.url } } });
    replicas = await Promise.all([scene.start(), scene.start()]);
    store = await sharedStore(database, scene);
  });
  afterAll(async () => {
    await store.close();
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const push = async (body: string, kind: ConfigKind = "policy", tenant = 1): Promise<number> =>
    (await store.configs.push({ tenant, kind, body, author: "iss#admin" })).version;
  const stateOf = async (replica: ReplicaProcess): Promise<{ version: number; problem?: string }> => {
    const { body } = await replica.ready();
    return (body["config"] as { tenant: number; version: number; problem?: string }[])[0] ?? { version: -1 };
  };
  const applied = async (version: number): Promise<void> => {
    for (const replica of replicas)
      await expect.poll(async () => (await stateOf(replica)).version, { timeout: 30_000 }).toBe(version);
  };
  const outcomes = (sessions: readonly Session[]): Promise<readonly unknown[]> =>
    Promise.all(
      sessions.map(async (session) => {
        const result = await session.request("tools/call", { name: "test_simple_text", arguments: {} });
        return result["isError"] === true ? "denied" : "allowed";
      }),
    );
  const open = (user: string) =>
    Promise.all(replicas.map(async (each) => scene.open(each.urlOf("suite"), await scene.tokenOf(user), "modern")));

  it("are applied by every replica while it runs, and stand in the rows", async () => {
    const sessions = await open("ada");
    expect(await outcomes(sessions)).toEqual(["allowed", "allowed"]);
    const version = await push(deny);
    await applied(version);
    expect(await outcomes(sessions)).toEqual(["denied", "denied"]);
    await applied(await push(empty));
    expect(await outcomes(sessions)).toEqual(["allowed", "allowed"]);
    const rows = await store.ledger.read({ tenant: 1, principal: `${scene.issuer.url}#ada`, limit: 10 });
    expect(rows.map(({ outcome, configVersion }) => [outcome, configVersion])).toEqual([
      ["ok", version + 1],
      ["ok", version + 1],
      ["denied", version],
      ["denied", version],
      ["ok", 0],
      ["ok", 0],
    ]);
    for (const session of sessions) await session.close();
  });

  it("are refused if they are broken, and the version before goes on", async () => {
    const good = await push(deny);
    await applied(good);
    const bad = await push("[[rule]]\ndecision = maybe\n");
    for (const replica of replicas)
      await expect
        .poll(async () => (await stateOf(replica)).problem)
        .toContain(`version ${bad} of the policy is refused`);
    const sessions = await open("bob");
    expect(await outcomes(sessions)).toEqual(["denied", "denied"]);
    // A replica that starts now finds the broken version first.
    const late = await scene.start();
    expect(await stateOf(late)).toMatchObject({ version: good, problem: expect.stringContaining(`version ${bad}`) });
    late.signal("SIGTERM");
    expect(await late.ended).toBe(0);
    await applied(await push(empty));
    expect(await outcomes(sessions)).toEqual(["allowed", "allowed"]);
    expect((await stateOf(replicas[0] as ReplicaProcess)).problem).toBeUndefined();
    for (const session of sessions) await session.close();
  });

  it("of settings add servers, and belong to one tenant", async () => {
    const version = await push(JSON.stringify({ mcpServers: { added: { httpUrl: upstream.url } } }), "settings");
    await applied(version);
    const [replica] = replicas;
    const session = await scene.open(replica?.urlOf("added") ?? "", await scene.tokenOf("eve"), "modern");
    expect(await session.request("tools/call", { name: "test_simple_text", arguments: {} })).toBeDefined();
    await session.close();
    await push(deny, "policy", 2);
    expect((await stateOf(replica as ReplicaProcess)).version).toBe(version);
    await applied(await push("{}", "settings"));
  });

  it("are read also if the notification about them was lost", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and (query like 'listen%' or query = 'select 1')`;
    for (let each = 0; each < 3; each += 1) {
      expect((await client.query(terminate)).rows.length).toBeGreaterThan(0);
      await applied(await push(each % 2 === 0 ? deny : empty));
    }
    await client.end();
    await applied(await push(empty));
  });

  it("of the settings file are read again on SIGHUP, and a broken file is refused", async () => {
    const [replica] = replicas;
    if (replica === undefined) throw new Error("no replica");
    const named = (name: string) => ({
      servers: { suite: { httpUrl: upstream.url }, [name]: { httpUrl: upstream.url } },
    });
    await scene.write(named("fresh"));
    replica.signal("SIGHUP");
    const open = async () => {
      const session = await scene.open(replica.urlOf("fresh"), await scene.tokenOf("zoe"), "modern");
      await session.close();
      return "there";
    };
    await expect.poll(() => open().catch(() => "absent"), { timeout: 20_000 }).toBe("there");
    // The other replica got no signal. It sees that the file has changed.
    const other = replicas[1]?.urlOf("fresh") ?? "";
    const opened = async () => {
      const session = await scene.open(other, await scene.tokenOf("zoe"), "modern");
      await session.close();
      return "there";
    };
    await expect.poll(() => opened().catch(() => "absent"), { timeout: 20_000 }).toBe("there");
    await scene.write({ ...named("fresh"), text: "{ broken" });
    replica.signal("SIGHUP");
    await expect.poll(() => replica.log).toContainEqual(expect.objectContaining({ event: "settings_refused" }));
    expect(await open()).toBe("there");
  });
});
