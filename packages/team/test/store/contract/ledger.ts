import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type AuditRow, type Intent, type LedgerStore, newRequestId } from "../../../src/store/ledger.ts";

let count = 0;

export function newRow(more: Partial<AuditRow> = {}): AuditRow {
  count += 1;
  return {
    id: newRequestId(Date.now()),
    owner: { tenant: 1, principal: "iss#ada" },
    replica: 1,
    kind: "tool",
    server: "demo",
    tool: `tool-${count}`,
    argsDigest: randomBytes(32),
    decision: "allow",
    rule: "a rule",
    mode: "default",
    outcome: "ok",
    durationMs: 12,
    configVersion: 3,
    ...more,
  };
}

export function intentOf({ id, owner, replica, kind, server, tool, argsDigest }: AuditRow): Intent {
  return { id, owner, replica, kind, server, tool, argsDigest };
}

/** What the files of one machine promise too. */
export function rowContract(open: () => Pick<LedgerStore, "record" | "read">): void {
  const newServer = () => {
    count += 1;
    return `server-${count}`;
  };

  describe("the rows of the ledger", () => {
    it("are there when their promises resolve, with what was decided and how it ended", async () => {
      const server = newServer();
      const facts = { client: "claude", decision: "ask_user", answer: "asked", answeredIn: "page" } as const;
      const row = newRow({ server, ...facts, outcome: "denied", durationMs: 1200, confirmationMs: 1000 });
      await open().record(row);
      const [found] = await open().read({ tenant: 1, server, limit: 10 });
      const { tool, kind, rule, mode } = row;
      expect(found).toMatchObject({ server, tool, kind, rule, mode, ...facts, outcome: "denied", durationMs: 1200 });
      expect(found?.confirmationMs).toBe(1000);
    });

    it("are stored by thousands at once, and found newest first", async () => {
      const server = newServer();
      const now = Date.now();
      const rows = Array.from({ length: 2500 }, (_, index) => newRow({ server, id: newRequestId(now + index) }));
      await Promise.all(rows.map((row) => open().record(row)));
      const found = await open().read({ tenant: 1, server, limit: 5000 });
      expect(found.map(({ tool }) => tool)).toEqual(rows.toReversed().map(({ tool }) => tool));
      const newest = await open().read({ tenant: 1, server, limit: 7 });
      expect(newest.map(({ tool }) => tool)).toEqual(found.slice(0, 7).map(({ tool }) => tool));
    });

    it("take names with any characters and of any length, and refuse none of their neighbours", async () => {
      const server = newServer();
      const names = ["\0", "x".repeat(100_000), "\ud800", "it's \"{,}\\"];
      const rows = names.map((tool) => newRow({ server, tool, client: tool, rule: tool }));
      await Promise.all(rows.map((row) => open().record(row)));
      const found = await open().read({ tenant: 1, server, limit: 10 });
      expect(found).toHaveLength(4);
      expect(Math.max(...found.map(({ tool }) => tool.length))).toBe(2000);
      expect(found.map(({ tool }) => tool)).toContain("it's \"{,}\\");
    });

    it("are found by their tool", async () => {
      const [one, other] = [newRow(), newRow()];
      await Promise.all([open().record(one), open().record(other)]);
      const found = await open().read({ tenant: 1, tool: one.tool, limit: 10 });
      expect(found.map(({ tool }) => tool)).toEqual([one.tool]);
    });
  });
}

/** What a ledger promises that replicas and users share. */
export function ledgerContract(open: () => LedgerStore): void {
  const newOwner = () => {
    count += 1;
    return { tenant: 1, principal: `iss#ledger-${count}` };
  };

  describe("the ledger", () => {
    it("returns a row as it was recorded, with the time of its id", async () => {
      const row = newRow({
        owner: newOwner(),
        client: "claude",
        arguments: { path: "/tmp/a", nested: { text: "\0\u{1f600}\ud800" } },
        decision: "ask_user",
        ruleOrigin: { source: "settings", file: "/etc/fairlead.json" } as unknown as AuditRow["ruleOrigin"],
        answer: "asked",
        answeredIn: "page",
        confirmationMs: 0,
        traceId: "0af7651916cd43dd8448eb211c80319c",
      });
      await open().record(row);
      const [found] = await open().read({ ...row.owner, limit: 10 });
      const at = Number.parseInt(row.id.replace("-", "").slice(0, 12), 16);
      expect(found).toEqual({ ...row, at, arguments: { path: "/tmp/a", nested: { text: "\0\u{1f600}\ud800" } } });
    });

    it("stores an id once, also if it is in the same batch twice", async () => {
      const row = newRow({ owner: newOwner() });
      await Promise.all([open().record(row), open().record({ ...row, tool: "again" })]);
      await open().record({ ...row, tool: "later" });
      const rows = await open().read({ ...row.owner, limit: 10 });
      expect(rows.map(({ tool }) => tool)).toEqual([row.tool]);
    });

    it("finds rows by server, tool, trace and time", async () => {
      const owner = newOwner();
      const now = Date.now();
      const traceId = "1".repeat(32);
      const [one, two] = [
        newRow({ owner, id: newRequestId(now - 60_000), server: "files", traceId }),
        newRow({ owner, id: newRequestId(now), server: "web" }),
      ];
      await Promise.all([open().record(one), open().record(two)]);
      const tools = async (search: object) =>
        (await open().read({ ...owner, limit: 10, ...search })).map(({ tool }) => tool);
      expect(await tools({ server: "files" })).toEqual([one.tool]);
      expect(await tools({ tool: two.tool })).toEqual([two.tool]);
      expect(await tools({ traceId })).toEqual([one.tool]);
      expect(await tools({ since: now - 1000 })).toEqual([two.tool]);
      expect(await tools({ until: now - 1000 })).toEqual([one.tool]);
    });

    it("fails only the row whose id or principal cannot be stored", async () => {
      const owner = newOwner();
      const good = open().record(newRow({ owner }));
      const noId = open().record(newRow({ owner, id: "no id" }));
      const longName = open().record(newRow({ owner: { ...owner, principal: "p".repeat(2000) } }));
      await expect(noId).rejects.toMatchObject({ code: "internal" });
      await expect(longName).rejects.toMatchObject({ code: "too_large" });
      await good;
      expect(await open().read({ ...owner, limit: 10 })).toHaveLength(1);
    });

    it("takes rows of any day", async () => {
      const owner = newOwner();
      const days = [-400, -30, 0, 3].map((days) => Date.now() + days * 86_400_000);
      await Promise.all(days.map((day) => open().record(newRow({ owner, id: newRequestId(day) }))));
      expect((await open().read({ ...owner, limit: 10 })).map(({ at }) => at)).toEqual(days.toReversed());
    });

    it("makes rows of intents that no row followed, once, and a late row replaces them", async () => {
      const owner = newOwner();
      const [done, left, late] = [newRow({ owner }), newRow({ owner }), newRow({ owner })];
      for (const row of [done, left, late]) await open().begin(intentOf(row));
      await open().record(done);
      const soon = Date.now() + 60_000;
      expect(await open().settle(soon)).toBeGreaterThanOrEqual(2);
      expect(await open().settle(soon)).toBe(0);
      await open().record(late);
      const outcomes = new Map((await open().read({ ...owner, limit: 10 })).map((row) => [row.tool, row.outcome]));
      expect(outcomes).toEqual(
        new Map([
          [done.tool, "ok"],
          [left.tool, "unknown"],
          [late.tool, "ok"],
        ]),
      );
    });

    it("leaves intents that are younger", async () => {
      const row = newRow({ owner: newOwner() });
      await open().begin(intentOf(row));
      await open().settle(Date.now() - 60_000);
      expect(await open().read({ ...row.owner, limit: 10 })).toEqual([]);
    });

    it("shows no rows of another user or tenant", async () => {
      const row = newRow({ owner: newOwner() });
      await open().record(row);
      expect(await open().read({ ...row.owner, tenant: 2, limit: 10 })).toEqual([]);
      expect(await open().read({ ...newOwner(), limit: 10 })).toEqual([]);
      expect((await open().read({ tenant: 1, tool: row.tool, limit: 10 })).map(({ id }) => id)).toEqual([row.id]);
    });
  });
}
