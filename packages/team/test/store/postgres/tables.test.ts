/** How the tables come to their version, and what is made and removed from time to time. */

import { createDatabase, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { newRequestId } from "../../../src/store/ledger.ts";
import { addressesOf } from "../../../src/store/postgres/address.ts";
import { migrate } from "../../../src/store/postgres/migrate.ts";
import { migrations } from "../../../src/store/postgres/migrations.ts";
import { disposable, openStore } from "../../support/open-store.ts";
import { intentOf, newRow } from "../contract/ledger.ts";

const database = await testDatabase("the tables of the team gateway");
const day = 86_400_000;

describe.runIf(database !== undefined)("the tables", () => {
  afterAll(() => database?.[Symbol.asyncDispose]());

  it("are made once by replicas that start at the same time", async () => {
    await using own = await newDatabase();
    const counts = await Promise.all(Array.from({ length: 4 }, () => migrate([own.url])));
    // Each step runs once. Between two steps another replica may take the lock.
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(migrations.length);
    expect(await migrate([own.url])).toBe(0);
  });

  it("are left as they are by a migration that fails", async () => {
    await using own = await newDatabase();
    await migrate([own.url]);
    const bad = [...migrations, { name: "bad", statements: "create table half (id int); select 1 / 0;" }];
    await expect(migrate([own.url], bad)).rejects.toMatchObject({ code: "internal" });
    expect(await ask(own, "select to_regclass('half') as half")).toEqual([{ half: null }]);
    const good = [...migrations, { name: "good", statements: "create table half (id int);" }];
    expect(await migrate([own.url], good)).toBe(1);
  });

  it("of a newer program, or of another one, are refused", async () => {
    await using own = await newDatabase();
    const newer = [...migrations, { name: "newer", statements: "create table newer (id int);" }];
    await migrate([own.url], newer);
    const message = expect.stringContaining("newer than this program");
    await expect(migrate([own.url])).rejects.toMatchObject({ code: "diverged", message });
    const other = [...migrations, { name: "newer", statements: "create table other (id int);" }];
    await expect(migrate([own.url], other)).rejects.toMatchObject({ code: "diverged" });
  });

  it("of the ledger have partitions ahead, and lose the old ones as a whole", async () => {
    await using own = await newDatabase();
    await using store = disposable(await openStore(own, { keepDays: 30 }));
    const owner = { tenant: 1, principal: "iss#ada" };
    for (const days of [-40, -31, -29, 0])
      await store.ledger.record(newRow({ owner, id: newRequestId(Date.now() + days * day) }));
    const orphan = newRow({ owner, tool: "orphan" });
    await store.ledger.begin(intentOf(orphan));
    // As if it had been begun long ago: its partition is removed when it has a row.
    await ask(
      own,
      `create table intents_2020010100 partition of intents for values from ('2020-01-01 00:00Z') to ('2020-01-01 01:00Z')`,
    );
    await ask(own, `update intents set begun = '2020-01-01 00:30Z' where tool = 'orphan'`);
    await store.maintain();
    const rows = await store.ledger.read({ tenant: 1, limit: 10 });
    expect(rows.map(({ tool, outcome }) => (tool === "orphan" ? outcome : "kept"))).toEqual(
      expect.arrayContaining(["unknown", "kept", "kept"]),
    );
    expect(rows).toHaveLength(3);
    const names = (await ask(own, "select inhrelid::regclass::text as name from pg_inherits order by 1")).map(
      ({ name }) => name,
    );
    const ahead = new Date(Date.now() + 2 * day).toISOString().slice(0, 10).replaceAll("-", "");
    expect(names).toContain(`audit_${ahead}`);
    expect(names).not.toContain("intents_2020010100");
    // Several replicas do this at the same moment.
    await Promise.all([store.maintain(), store.maintain(), store.maintain()]);
  });

  it("forget what nobody reads any more", async () => {
    await using own = await newDatabase();
    await using store = disposable(await openStore(own));
    expect(await store.consumed.consume("old", Date.now() - 1000)).toBe(true);
    expect(await store.consumed.consume("new", Date.now() + 60_000)).toBe(true);
    await store.maintain();
    expect(await store.consumed.consume("old", Date.now() + 1000)).toBe(true);
    expect(await store.consumed.consume("new", Date.now() + 1000)).toBe(false);
  });

  it("contain no secret, argument or question in clear", async () => {
    await using own = await newDatabase();
    await using store = disposable(await openStore(own));
    const owner = { tenant: 1, principal: "iss#ada" };
    const secret = "hunter2-secret";
    await store.grants.save({ ...owner, server: "s", pin: "p" }, { issuer: "i", secret });
    await store.clients.add({ tenant: 1, issuer: "i", redirectUri: "r" }, secret);
    await store.ledger.record(newRow({ owner, arguments: { password: secret } }));
    const until = Date.now() + 60_000;
    const question = { id: "q", owner, server: "s", tool: "t", argsDigest: Buffer.from("d"), asked: secret, until };
    await store.questions.ask(question);
    await store.questions.answer(1, "q", { by: "iss#ada", json: secret });
    const tables = ["grants", "clients", "audit", "questions"];
    for (const table of tables) {
      const [row] = await ask(own, `select string_agg(t::text, ' ') as all from ${table} t`);
      expect(row?.["all"], table).toBeTruthy();
      expect(row?.["all"], table).not.toContain(secret);
      expect(row?.["all"], table).not.toContain(Buffer.from(secret).toString("hex"));
    }
    // The secret of one row does not open in another row.
    await store.grants.save({ ...owner, principal: "iss#eve", server: "s", pin: "p" }, { issuer: "i", secret: "own" });
    await ask(own, "update grants set encrypted = (select encrypted from grants where principal = 'iss#ada')");
    expect(await store.grants.read({ ...owner, principal: "iss#eve", server: "s", pin: "p" })).toBeUndefined();
  });
});

describe("an address of PostgreSQL", () => {
  it("with several hosts is one address for each", () => {
    expect(addressesOf("postgresql://ada:p%40ss@one:5432,two/team?sslmode=require", "url")).toEqual([
      "postgresql://ada:p%40ss@one:5432/team?sslmode=require",
      "postgresql://ada:p%40ss@two/team?sslmode=require",
    ]);
    expect(addressesOf("postgres://ada@/team?host=%2Frun", "url")).toEqual(["postgres://ada@/team?host=%2Frun"]);
  });

  it("that is none is refused without showing it", () => {
    expect(() => addressesOf("mysql://ada:secret@one/team", "url")).toThrow(
      expect.objectContaining({ code: "settings_invalid", message: expect.not.stringContaining("secret") }),
    );
  });
});

async function newDatabase(): Promise<TestDatabase> {
  if (database === undefined) throw new Error("PostgreSQL is absent");
  return createDatabase(database.server);
}

async function ask({ url }: TestDatabase, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(statement);
  await client.end();
  return rows;
}
