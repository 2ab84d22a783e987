/** PostgreSQL stops, starts, and loses connections. Each test has a server of its own. */

import { once } from "node:events";
import { connect as connectTo, createServer } from "node:net";
import { join } from "node:path";
import {
  createDatabase,
  noteProgram,
  PostgresServer,
  postgresVersion,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { Database } from "../../../src/store/postgres/database.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";
import type { TeamStore } from "../../../src/store/store.ts";
import { disposable, openStore, ring } from "../../support/open-store.ts";
import { newRow } from "../contract/ledger.ts";

noteProgram("a PostgreSQL that is away for a while", "PostgreSQL", postgresVersion());

const ada = { tenant: 1, principal: "iss#ada" };
const push = (store: TeamStore, body: string) =>
  store.configs.push({ tenant: 1, kind: "policy", body, author: "iss#ada" });

describe.runIf(postgresVersion() !== undefined)("a PostgreSQL that is away for a while", () => {
  it("is reported as unreachable by every port, and used again when it is back", async () => {
    await using server = await newServer();
    const database = await createDatabase(server);
    await using store = disposable(await openStore(database));
    await store.ledger.record(newRow({ tool: "before" }));
    await server.stop("immediate");
    const refused = [
      store.ledger.record(newRow({ tool: "refused" })),
      store.approvals.list(ada),
      store.grants.read({ ...ada, server: "s", pin: "p" }),
      store.consumed.consume("id", Date.now()),
      push(store, "{}"),
      store.check(),
    ];
    for (const result of await Promise.allSettled(refused))
      expect(result).toMatchObject({ status: "rejected", reason: { code: "unreachable" } });
    await server.start();
    await store.ledger.record(newRow({ tool: "after" }));
    expect((await store.ledger.read({ tenant: 1, limit: 10 })).map(({ tool }) => tool)).toEqual(["after", "before"]);
    await until(() => store.stats.isListening);
    expect(store.stats.listenReconnects).toBe(1);
  });

  it("is not reported as unreachable while all connections are in use", async () => {
    await using server = await newServer();
    const database = new Database([(await createDatabase(server)).url], 1);
    // The last statement waits longer than any single statement may take.
    const slow = [1.6, 1.6, 0].map((seconds) => database.run("select pg_sleep($1)", [seconds]));
    expect((await Promise.allSettled(slow)).map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
    await database.close();
    await expect(database.run("select 1")).rejects.toMatchObject({ code: "unreachable" });
  });

  it("fails all that wait for a connection when one finds that it is away", async () => {
    await using server = await newServer();
    const database = new Database([(await createDatabase(server)).url], 1);
    const waiting = Array.from({ length: 50 }, () => database.run("select pg_sleep(1)"));
    const ended = Promise.allSettled(waiting);
    await server.stop("immediate");
    for (const result of await ended)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "unreachable" } });
    await database.close();
  });

  it("loses no row while the spool takes them", async () => {
    await using server = await newServer();
    const database = await createDatabase(server);
    await using folder = await temporaryFolder();
    await using store = disposable(await openStore(database, { spoolFolder: folder.path }));
    const recorded: string[] = [];
    const record = async (): Promise<void> => {
      const row = newRow({ tool: "spooled" });
      await store.ledger.record(row);
      recorded.push(row.id);
    };
    let isOver = false;
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) await record();
    });
    await until(() => recorded.length > 20);
    await server.stop("immediate");
    const count = recorded.length;
    await until(() => recorded.length > count + 50);
    expect(store.stats.spoolRows).toBeGreaterThan(0);
    await server.start();
    await until(() => store.stats.spoolRows === 0);
    isOver = true;
    await Promise.all(callers);
    const reader = new Database([database.url], 1);
    const rows = await reader.run<{ id: string }>("select id from audit where tool = 'spooled'");
    await reader.close();
    expect(rows.map(({ id }) => id).toSorted()).toEqual(recorded.toSorted());
  });

  it("gets what an earlier run has left in the spool before the store is open", async () => {
    await using server = await newServer();
    const database = await createDatabase(server);
    await using folder = await temporaryFolder();
    const before = await openStore(database, { spoolFolder: folder.path });
    await server.stop();
    const row = newRow({ tool: "left" });
    await before.ledger.record(row);
    await before.close();
    await server.start();
    await using store = disposable(await openStore(database, { spoolFolder: folder.path }));
    expect((await store.ledger.read({ tenant: 1, tool: "left", limit: 10 })).map(({ id }) => id)).toEqual([row.id]);
    expect(store.stats.spoolRows).toBe(0);
  });

  it("stores what an issuer gave while it was away", async () => {
    await using server = await newServer();
    const database = await createDatabase(server);
    await using store = disposable(await openStore(database));
    const key = { ...ada, server: "s", pin: "p" };
    const { generation } = await store.grants.save(key, { issuer: "i", secret: "old" });
    const grant = await store.grants.refresh(
      key,
      generation,
      async () => {
        await server.stop("immediate");
        void server.start();
        return { kind: "refreshed", grant: { issuer: "i", secret: "new" } };
      },
      new AbortController().signal,
    );
    expect(grant?.secret).toBe("new");
    expect((await store.grants.read(key))?.secret).toBe("new");
  });

  it("keeps readers of versions on the newest one, however often the connection ends", async () => {
    await using server = await newServer();
    const database = await createDatabase(server);
    await using store = disposable(await openStore(database));
    const killer = new pg.Client({ connectionString: database.url });
    await killer.connect();
    let applied = 0;
    let reading: Promise<void> = Promise.resolve();
    const read = async (): Promise<void> => {
      for (const { version } of await store.configs.since(1, applied)) {
        expect(version).toBeGreaterThan(applied);
        applied = version;
      }
    };
    const stop = store.hints.listen("config", () => {
      reading = reading.then(read, read);
    });
    const listening = "application_name = 'fairlead direct'";
    for (let round = 0; round < 20; round += 1) {
      const pushed = push(store, `{"round":${round}}`);
      await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${listening}`);
      const { version } = await pushed;
      await until(() => applied === version);
    }
    expect(store.stats.listenReconnects).toBeGreaterThan(10);
    stop();
    await reading;
    await killer.end();
  });

  it("with several hosts is used where writes are taken, also when another one takes over", async () => {
    await using first = await newServer();
    const { url } = await createDatabase(first);
    const name = /@\/(\w+)/.exec(url)?.[1];
    await (await openPostgresStore({ url, ring })).close();
    await first.stop();
    await using second = await PostgresServer.create(join(first.folder, "data"), true);
    if (second === undefined) throw new Error("PostgreSQL is absent");
    await first.start();
    const hosts = ["/nowhere", second.folder, first.folder].map((folder) => encodeURIComponent(folder)).join(",");
    await using store = disposable(await openStore({ url: `postgresql://postgres@${hosts}/${name}` }));
    await store.ledger.record(newRow({ tool: "on the first" }));
    await first.stop("immediate");
    await expect(store.ledger.record(newRow({ tool: "refused" }))).rejects.toMatchObject({ code: "unreachable" });
    const promoter = new pg.Client({ host: second.folder, user: "postgres", database: "postgres" });
    await promoter.connect();
    await promoter.query("select pg_promote()");
    await promoter.end();
    await store.ledger.record(newRow({ tool: "on the second" }));
    // The second server of this test is a copy that gets nothing from the first one.
    expect((await store.ledger.read({ tenant: 1, limit: 10 })).map(({ tool }) => tool)).toEqual(["on the second"]);
    await until(() => store.stats.isListening);
    const { version } = await push(store, "{}");
    await new Promise<void>((resolve) => {
      const stop = store.hints.listen("config", () => {
        stop();
        resolve();
      });
    });
    expect((await store.configs.current(1, "policy"))?.version).toBe(version);
  });

  it("refuses to start through a pooler, and starts with a direct address for locks", async () => {
    await using server = await newServer();
    const database = await createDatabase(server);
    await using folder = await temporaryFolder();
    const pooled = database.url.replace(/host=.*/, `host=${encodeURIComponent(folder.path)}`);
    const pooler = createServer((client) => {
      const direct = connectTo(join(server.folder, ".s.PGSQL.5432"));
      client.pipe(direct);
      direct.on("data", (bytes) => client.write(withOtherProcess(bytes)));
      for (const [one, other] of [
        [client, direct],
        [direct, client],
      ] as const) {
        one.on("error", () => undefined);
        one.on("close", () => other.destroy());
      }
    });
    pooler.listen(join(folder.path, ".s.PGSQL.5432"));
    await once(pooler, "listening");
    const refused = openPostgresStore({ url: pooled, ring });
    await expect(refused).rejects.toMatchObject({ code: "settings_invalid", next: expect.stringContaining("lockUrl") });
    const store = await openPostgresStore({ url: pooled, lockUrl: database.url, ring });
    await store.check();
    await store.close();
    pooler.close();
    await once(pooler, "close");
  });
});

async function newServer(): Promise<PostgresServer> {
  const server = await PostgresServer.open();
  if (server === undefined) throw new Error("PostgreSQL is absent");
  return server;
}

/** A pooler tells a client an id of its own instead of the one of PostgreSQL's process. */
function withOtherProcess(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  const at = changed.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (at >= 0) changed.writeInt32BE(0x7fff_0000, at + 5);
  return changed;
}
