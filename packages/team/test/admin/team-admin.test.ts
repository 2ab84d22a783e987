/** Who may administer a team, and what is written down about it. */

import { randomUUID } from "node:crypto";
import { testDatabase } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callerAsActor, databaseOperator } from "../../src/admin/actor.ts";
import { TeamAdmin } from "../../src/admin/team-admin.ts";
import { ApiKeyVerifier } from "../../src/auth/api-key-verifier.ts";
import type { Role } from "../../src/auth/caller.ts";
import { newRequestId } from "../../src/store/ledger.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { newRow } from "../store/contract/ledger.ts";
import { openStore, ring } from "../support/open-store.ts";

const database = await testDatabase("administration of a team");
const allowGithub = '[[rule]]\nmcpName = "github"\ndecision = "allow"\npriority = 1\n';

describe.runIf(database !== undefined)("administering a team", () => {
  let store: TeamStore;
  beforeAll(async () => {
    if (database !== undefined) store = await openStore(database);
  });
  afterAll(async () => {
    await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  const adminOf = (tenant: number, ...own: readonly Role[]) =>
    new TeamAdmin({
      store,
      ring,
      tenant,
      actor: callerAsActor({
        owner: { tenant, principal: `iss#${own.join("-")}` },
        roles: new Set<Role>(["user", ...own]),
        groups: [],
      }),
      now: Date.now,
    });
  const rowsOf = async (tenant: number) =>
    (await store.ledger.read({ tenant, kind: "admin", limit: 100 })).map(
      ({ owner, tool, decision, outcome }) => `${owner.principal} ${tool} ${decision} ${outcome}`,
    );

  it.each<[Role[], Record<string, string>]>([
    [[], { audit: "denied", keys: "denied", push: "denied", addKey: "denied", revokeUser: "denied", status: "denied" }],
    [
      ["approver"],
      { audit: "denied", keys: "denied", push: "denied", addKey: "denied", revokeUser: "denied", status: "denied" },
    ],
    [["auditor"], { audit: "ok", keys: "ok", push: "denied", addKey: "denied", revokeUser: "denied", status: "ok" }],
    [
      ["operator"],
      { audit: "denied", keys: "denied", push: "denied", addKey: "denied", revokeUser: "ok", status: "ok" },
    ],
    [["admin"], { audit: "ok", keys: "ok", push: "ok", addKey: "ok", revokeUser: "ok", status: "ok" }],
  ])("with the roles %j", async (own, expected) => {
    const admin = adminOf(10 + own.length * 10 + (own[0]?.length ?? 0), ...own);
    const outcomeOf = (work: Promise<unknown>) =>
      work.then(
        () => "ok",
        (error: { code?: string }) => error.code,
      );
    expect({
      audit: await outcomeOf(admin.audit({ limit: 1 })),
      keys: await outcomeOf(admin.keys()),
      push: await outcomeOf(admin.pushPolicy(allowGithub, 0)),
      addKey: await outcomeOf(admin.addKey({ principal: "ci", scopes: ["mcp:call"], role: "user", networks: [] })),
      revokeUser: await outcomeOf(admin.revokeUser("iss#gone")),
      status: await outcomeOf(admin.status()),
    }).toEqual(expected);
  });

  it("leaves a row with the author for every change, also for one that was refused or has failed", async () => {
    const tenant = 101;
    const admin = adminOf(tenant, "admin");
    await admin.pushPolicy(allowGithub, 0);
    await expect(admin.pushPolicy(allowGithub, 0)).rejects.toMatchObject({ code: "changed" });
    await expect(adminOf(tenant, "operator").pushPolicy("", 1)).rejects.toMatchObject({ code: "denied" });
    const { key } = await admin.addKey({
      principal: "ci",
      scopes: ["mcp:read"],
      role: "user",
      networks: ["10.0.0.0/8"],
    });
    await admin.revokeKey(key.id);
    await expect(admin.revokeKey(key.id)).rejects.toMatchObject({ code: "not_found" });
    expect(await rowsOf(tenant)).toEqual(
      [
        "iss#admin policy push allow ok",
        "iss#admin policy push allow changed",
        "iss#operator policy push deny denied",
        "iss#admin keys add allow ok",
        "iss#admin keys revoke allow ok",
        "iss#admin keys revoke allow not_found",
      ].toReversed(),
    );
    const [, , added] = await store.ledger.read({ tenant, kind: "admin", limit: 3 });
    expect(added?.arguments).toEqual({ principal: "ci", role: "user", key: key.id });
    expect(await store.ledger.read({ tenant: 1, kind: "admin", limit: 10 })).toEqual([]);
  });

  it("restores an earlier policy as a new version", async () => {
    const tenant = 102;
    const admin = adminOf(tenant, "admin");
    const first = await admin.pushPolicy(allowGithub, 0);
    const second = await admin.pushPolicy(`${allowGithub}# other\n`, first.version);
    const third = await admin.rollback(first.version, second.version);
    expect(third).toMatchObject({ body: allowGithub, sha256: first.sha256, author: "iss#admin" });
    expect(third.version).toBeGreaterThan(second.version);
    expect((await admin.policies()).map(({ version }) => version)).toEqual(
      [first, second, third].map(({ version }) => version),
    );
    await expect(admin.policy(999_999)).rejects.toMatchObject({ code: "not_found" });
    await expect(adminOf(103, "admin").policy(first.version)).rejects.toMatchObject({ code: "not_found" });
  });

  it("a new key works once it is added, with its scope and network, and not after it is revoked", async () => {
    const tenant = 104;
    const admin = adminOf(tenant, "admin");
    using verifier = new ApiKeyVerifier({ ...store, store: store.apiKeys, now: Date.now });
    const wanted = { principal: "ci", scopes: ["mcp:read"], role: "auditor", networks: ["10.0.0.0/8"] };
    const { key, text } = await admin.addKey(wanted);
    expect(await verifier.verify(text, "10.1.2.3")).toMatchObject({
      owner: { tenant, principal: "ci" },
      scope: "mcp:read",
    });
    expect(await verifier.verify(text, "192.168.0.1")).toBeUndefined();
    expect(JSON.stringify(await admin.keys())).not.toContain(text.slice(-43));
    await admin.revokeKey(key.id);
    await expect.poll(() => verifier.verify(text, "10.1.2.3")).toBeUndefined();
    for (const bad of [{ scopes: ["mcp:all"] }, { role: "root" }, { networks: ["10.0.0.0/99"] }, { principal: "" }])
      await expect(admin.addKey({ ...wanted, ...bad })).rejects.toMatchObject({ code: "usage" });
  });

  it("a revoked user loses tokens, keys and sign-ins, and nobody else does", async () => {
    const tenant = 105;
    const admin = adminOf(tenant, "admin");
    const [gone, other] = ["iss#gone", "iss#other"].map((principal) => ({ tenant, principal }));
    if (gone === undefined || other === undefined) throw new Error("no users");
    for (const owner of [gone, other]) {
      await admin.addKey({ principal: owner.principal, scopes: [], role: "user", networks: [] });
      await store.grants.save(
        { ...owner, server: "github", pin: "p" },
        { issuer: "https://github.example", secret: "s" },
      );
    }
    expect(await admin.revokeUser(gone.principal)).toEqual({ keys: 1, signIns: 1 });
    expect(await store.grants.list(gone)).toEqual([]);
    expect(await store.grants.list(other)).toHaveLength(1);
    expect((await admin.keys()).map(({ owner }) => owner.principal)).toEqual([other.principal]);
    expect((await store.revocations.list()).filter((each) => each.tenant === tenant)).toMatchObject([gone]);
  });

  it("pages through the history of all users, and finds by user, outcome and trace", async () => {
    const tenant = 106;
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const now = Date.now();
    for (let at = 0; at < 25; at += 1)
      await store.ledger.record(
        newRow({
          id: newRequestId(now + at),
          owner: { tenant, principal: at % 5 === 0 ? "iss#eve" : "iss#ada" },
          tool: `t${at}`,
          outcome: at % 10 === 0 ? "denied" : "ok",
          ...(at === 7 && { traceId }),
        }),
      );
    const auditor = adminOf(tenant, "auditor");
    const seen: string[] = [];
    let before: { at: number; id: string } | undefined;
    do {
      const page = await auditor.audit(before === undefined ? { limit: 10 } : { limit: 10, before });
      seen.push(...page.map(({ tool }) => tool));
      before = page.length < 10 ? undefined : page.at(-1);
    } while (before !== undefined);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => `t${24 - at}`));
    const found = async (search: object) =>
      (await auditor.audit({ limit: 100, ...search })).map(({ tool }) => tool).toSorted();
    expect(await found({ principal: "iss#eve", outcome: "denied" })).toEqual(["t0", "t10", "t20"]);
    expect(await found({ traceId })).toEqual(["t7"]);
    expect(await auditor.count({ limit: 10 }, ["principal", "outcome"])).toMatchObject([
      { principal: "iss#ada", outcome: "ok", count: 20 },
      { principal: "iss#eve", outcome: "denied", count: 3 },
      { principal: "iss#eve", outcome: "ok", count: 2 },
    ]);
  });

  it("a question is answered by its user, or by an approver who is not its user, and once", async () => {
    const tenant = 107;
    const actorOf = (principal: string, ...groups: string[]) =>
      new TeamAdmin({
        store,
        ring,
        tenant,
        actor: { principal, groups, roles: new Set<Role>(["user", "admin"]) },
        now: Date.now,
      });
    const ask = async (approver?: string) => {
      const id = randomUUID();
      const question = { server: "shop", name: "pay", kind: "tool", args: {}, answers: ["no", "once"], approver };
      const asked = {
        owner: { tenant, principal: "iss#ada" },
        server: "shop",
        tool: "pay",
        asked: JSON.stringify(question),
      };
      await store.questions.ask({ id, ...asked, argsDigest: Buffer.from("d"), until: Date.now() + 60_000 });
      return id;
    };
    const yes = { answer: "once" } as const;
    const [own, ofLeads, other] = [await ask(), await ask("leads-*"), await ask("leads-*")];
    await expect(actorOf("iss#eve", "leads-eu").answer(own, yes)).rejects.toMatchObject({ code: "not_found" });
    await actorOf("iss#ada").answer(own, yes);
    await expect(actorOf("iss#ada").answer(own, yes)).rejects.toMatchObject({ code: "not_found" });
    // Nobody approves their own request, also not as a member of the group.
    await expect(actorOf("iss#ada", "leads-eu").answer(ofLeads, yes)).rejects.toMatchObject({ code: "denied" });
    await expect(actorOf("iss#bob", "engineers").answer(ofLeads, yes)).rejects.toMatchObject({ code: "not_found" });
    const ids = async (...who: [string, ...string[]]) =>
      (await actorOf(...who).questions()).map(({ stored }) => stored.id);
    expect(await ids("iss#eve", "leads-eu")).toEqual([ofLeads, other]);
    expect(await ids("iss#ada", "leads-eu")).toEqual([]);
    const answers = await Promise.allSettled(
      ["iss#eve", "iss#fay"].map((who) =>
        actorOf(who, "leads-eu").answer(ofLeads, { answer: "no", because: "not today" }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const operator = new TeamAdmin({ store, ring, tenant, actor: databaseOperator("ada@host"), now: Date.now });
    await operator.answer(other, yes);
    // What was not offered is a no.
    const last = await ask("leads-*");
    await operator.answer(last, { answer: "always" });
    expect(JSON.parse((await store.questions.read(tenant, last))?.answer ?? "")).toEqual({ answer: "no" });
    expect(await rowsOf(tenant)).toContain("operator:ada@host approvals allow allow ok");
    expect(await rowsOf(tenant)).toContain("iss#ada approvals allow deny denied");
  });
});
