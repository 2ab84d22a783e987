/** PostgreSQL stops and starts again while clients call: `closed` refuses, `spool` goes on. */

import { canonicalJson } from "@fairlead/core/plain-text";
import { createDatabase, noteProgram, PostgresServer, postgresVersion } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import { type CountingServer, countingServer } from "../support/counting-server.ts";
import { modern, type RawAnswer } from "../support/raw-client.ts";
import { sharedStore, type TeamScene, teamScene } from "../support/team-scene.ts";

noteProgram("replicas whose PostgreSQL is away", "PostgreSQL", postgresVersion());

describe.runIf(postgresVersion() !== undefined)("while PostgreSQL is away", () => {
  async function world(whenAway: "closed" | "spool") {
    const server = await PostgresServer.open();
    if (server === undefined) throw new Error("no PostgreSQL");
    const database = await createDatabase(server);
    const upstream = await countingServer();
    const scene = await teamScene(database, {
      servers: { counting: { httpUrl: upstream.url } },
      audit: { whenAway },
    });
    const replica = await scene.start();
    const token = await scene.tokenOf("ada");
    const call = (id: string): Promise<RawAnswer> =>
      modern(replica.urlOf("counting"), token, "tools/call", { name: "count", arguments: { id } });
    const live = async (): Promise<number> => (await fetch(`${replica.origin}/livez`)).status;
    return {
      server,
      upstream,
      scene,
      replica,
      call,
      live,
      /** Which of these calls have a row. */
      stored: async (ids: readonly string[]): Promise<readonly string[]> => {
        const store = await sharedStore(database, scene);
        const rows = await store.ledger.read({ tenant: 1, limit: 1000 });
        await store.close();
        const digests = new Set(rows.map(({ argsDigest }) => argsDigest.toString("hex")));
        return ids.filter((id) => digests.has(scene.ring.digest(canonicalJson({ id })).toString("hex")));
      },
      [Symbol.asyncDispose]: () => close(scene, upstream, server),
    };
  }

  async function close(scene: TeamScene, upstream: CountingServer, server: PostgresServer): Promise<void> {
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  }

  const isAnswered = ({ message }: RawAnswer): boolean => message["result"] !== undefined;

  it("nothing runs with `closed`: calls are refused, and the replica is alive but not ready", async () => {
    await using here = await world("closed");
    expect(isAnswered(await here.call("before"))).toBe(true);
    await here.server.stop("immediate");
    for (const id of ["one", "two", "three"]) expect(isAnswered(await here.call(id))).toBe(false);
    expect(here.upstream.executed).toEqual(["before"]);
    expect(await here.live()).toBe(200);
    expect(await here.replica.ready()).toMatchObject({ status: 503, body: { reasons: ["PostgreSQL is away"] } });
    await here.server.start();
    await expect.poll(async () => (await here.replica.ready()).status, { timeout: 20_000 }).toBe(200);
    await expect.poll(async () => isAnswered(await here.call("after")), { timeout: 20_000 }).toBe(true);
    expect(await here.stored(["before", "one", "two", "three", "after"])).toEqual(["before", "after"]);
  });

  it("calls go on with `spool`, and no row is lost", async () => {
    await using here = await world("spool");
    expect(isAnswered(await here.call("before"))).toBe(true);
    await here.server.stop("immediate");
    const ids = ["one", "two", "three"];
    for (const id of ids) expect(isAnswered(await here.call(id))).toBe(true);
    expect(here.upstream.executed).toEqual(["before", ...ids]);
    const { status, body } = await here.replica.ready();
    expect([status, body["spoolRows"]]).toEqual([200, 6]);
    await here.server.start();
    await expect.poll(async () => (await here.replica.ready()).body["spoolRows"], { timeout: 20_000 }).toBe(0);
    expect(await here.stored(["before", ...ids])).toEqual(["before", ...ids]);
  });
});
