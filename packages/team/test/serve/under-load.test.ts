/** Replicas that are restarted and killed while clients call. Three books are compared: client, server, database. */

import { canonicalJson } from "@fairlead/core/plain-text";
import { postgresVersion, scaled, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CountingServer, countingServer } from "../support/counting-server.ts";
import { startLoad } from "../support/load.ts";
import { type ReplicaProcess, type TeamScene, teamScene } from "../support/team-scene.ts";

const replicas = 4;

describe.runIf(postgresVersion() !== undefined)("under load", () => {
  let database: TestDatabase;
  let upstream: CountingServer;
  let scene: TeamScene;
  let running: ReplicaProcess[];

  beforeAll(async () => {
    const found = await testDatabase("replicas under load");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
  });
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    upstream = await countingServer();
    scene = await teamScene(database, {
      servers: { counting: { httpUrl: upstream.url } },
      team: { drain: { wait: "1s", finish: "30s" } },
    });
    running = await Promise.all(Array.from({ length: replicas }, () => scene.start()));
  });
  afterEach(async () => {
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  const load = async () => {
    const tokens = await Promise.all(["ada", "bob", "eve"].map((user) => scene.tokenOf(user)));
    return startLoad(running, { server: "counting", tokens, callers: 12 });
  };

  /** The third book: the digests of the arguments of all rows, and of all intents. */
  async function stored(): Promise<{
    readonly rows: ReadonlyMap<string, number>;
    readonly intents: ReadonlySet<string>;
  }> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const digests = async (statement: string): Promise<readonly string[]> =>
        (await client.query<{ digest: string }>(statement)).rows.map(({ digest }) => digest);
      const rows = new Map<string, number>();
      for (const digest of await digests("select encode(args_digest, 'hex') as digest from audit where outcome = 'ok'"))
        rows.set(digest, (rows.get(digest) ?? 0) + 1);
      return { rows, intents: new Set(await digests("select encode(args_digest, 'hex') as digest from intents")) };
    } finally {
      await client.end();
    }
  }
  const digestOf = (id: string): string => scene.ring.digest(canonicalJson({ id })).toString("hex");

  it("no call fails while all replicas are restarted one after the other", async () => {
    const calls = await load();
    await calls.more(scaled(100));
    for (const old of running) {
      old.signal("SIGTERM");
      expect(await old.ended).toBe(0);
      const next = await scene.start();
      calls.add(next);
      await calls.more(scaled(50));
    }
    await calls.stop();
    expect({ unknown: calls.unknown, refused: calls.refused }).toEqual({ unknown: [], refused: [] });
    const { rows } = await stored();
    expect(calls.completed.filter((id) => rows.get(digestOf(id)) !== 1)).toEqual([]);
    expect([...upstream.executed].sort()).toEqual([...calls.completed].sort());
    // No token of a client is passed on.
    expect([...upstream.authorizations]).toEqual(["undefined"]);
  });

  it("a killed replica loses no row of an answered call, and every call that ran has at least its intent", async () => {
    const calls = await load();
    for (const doomed of running.slice(1)) {
      await calls.more(scaled(100));
      doomed.signal("SIGKILL");
      await doomed.ended;
      calls.add(await scene.start());
    }
    await calls.more(scaled(100));
    await calls.stop();
    const { rows, intents } = await stored();
    expect(calls.completed.filter((id) => rows.get(digestOf(id)) !== 1)).toEqual([]);
    expect(upstream.executed.filter((id) => !rows.has(digestOf(id)) && !intents.has(digestOf(id)))).toEqual([]);
    expect(new Set(upstream.executed).size).toBe(upstream.executed.length);
    // Only calls at the killed replicas may be in doubt: each of them had at most the calls of all callers.
    expect(calls.unknown.length).toBeLessThanOrEqual(12 * 3);
    expect(calls.refused).toEqual([]);
  });
});
