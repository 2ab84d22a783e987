/** Random operations of three users in each of two tenants, compared with a model: no user sees anything of another. */

import { scaled, seed, testDatabase } from "@fairlead/test-servers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newRequestId } from "../../../src/store/ledger.ts";
import type { Owner } from "../../../src/store/owner.ts";
import type { TeamStore } from "../../../src/store/store.ts";
import { openStore } from "../../support/open-store.ts";
import { newRow } from "../contract/ledger.ts";

const database = await testDatabase("what users and tenants see of each other");
/** Names that are parts of each other, so that a key that only joins its parts would mix them up. */
const principals = ["iss#ada", "iss#adah", "iss#a"];
const slots = ["s", "s1", "1"];

const operation = fc.record({
  port: fc.constantFrom(
    "grant",
    "refresh",
    "remove grant",
    "approval",
    "remove approval",
    "row",
    "question",
    "answer",
    "definition",
    "config",
    "api key",
    "revoke api key",
    "client",
    "remove client",
    "revocation",
  ),
  tenant: fc.constantFrom(0, 1),
  principal: fc.constantFrom(...principals),
  slot: fc.constantFrom(...slots),
});
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

/** What each user, or each tenant, must see: sorted texts by port. */
class Model {
  readonly #seen = new Map<string, Map<string, string>>();

  set(port: string, owner: string, slot: string, value: string): void {
    const values = this.#seen.get(`${port} ${owner}`) ?? new Map<string, string>();
    this.#seen.set(`${port} ${owner}`, values.set(slot, value));
  }

  has(port: string, owner: string, slot: string): boolean {
    return this.#seen.get(`${port} ${owner}`)?.has(slot) ?? false;
  }

  remove(port: string, owner: string, slot: string): boolean {
    return this.#seen.get(`${port} ${owner}`)?.delete(slot) ?? false;
  }

  values(port: string, owner: string): readonly string[] {
    return [...(this.#seen.get(`${port} ${owner}`)?.values() ?? [])].toSorted();
  }
}

describe.runIf(database !== undefined)("users and tenants", () => {
  let store: TeamStore;
  let tenants = 10;
  let values = 0;
  beforeAll(async () => {
    if (database !== undefined) store = await openStore(database);
  });
  afterAll(async () => {
    await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  it("see through every port what they have stored, and nothing of each other", async () => {
    const run = async (operations: readonly Operation[]): Promise<void> => {
      tenants += 2;
      const model = new Model();
      for (const each of operations) await apply(model, each, tenants);
      for (const tenant of [tenants, tenants + 1]) {
        for (const principal of principals) await compareUser(model, { tenant, principal });
        await compareTenant(model, tenant);
      }
    };
    const property = fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 60 }), run);
    await fc.assert(property, { seed: seed(), numRuns: scaled(300, 20) });
  });

  async function apply(model: Model, { port, principal, slot, ...which }: Operation, base: number): Promise<void> {
    const tenant = base + which.tenant;
    const owner = { tenant, principal };
    const user = userOf(owner);
    values += 1;
    const value = `value ${values}`;
    const grantKey = { ...owner, server: slot, pin: slot };
    const approval = { server: slot, fingerprint: slot, kind: "tool", tool: slot } as const;
    const id = `${base} ${slot}`;
    switch (port) {
      case "grant":
        await store.grants.save(grantKey, { issuer: "i", secret: value });
        return model.set("grants", user, slot, value);
      case "refresh": {
        const before = await store.grants.read(grantKey);
        expect(before !== undefined).toBe(model.has("grants", user, slot));
        const grant = { issuer: "i", secret: value };
        const refresh = async () => ({ kind: "refreshed", grant }) as const;
        await store.grants.refresh(grantKey, before?.generation ?? 1, refresh, new AbortController().signal);
        return before && model.set("grants", user, slot, value);
      }
      case "remove grant":
        expect(await store.grants.remove(grantKey)).toBe(model.remove("grants", user, slot));
        return;
      case "approval":
        await store.approvals.save(owner, { ...approval, digest: value, by: principal, at: new Date().toISOString() });
        return model.set("approvals", user, slot, value);
      case "remove approval":
        expect(await store.approvals.remove(owner, approval)).toBe(model.remove("approvals", user, slot));
        return;
      case "row":
        await store.ledger.record(
          newRow({ id: newRequestId(Date.now()), owner, tool: value, arguments: { of: value } }),
        );
        model.set("rows", user, value, value);
        return model.set("tenant rows", String(tenant), value, value);
      case "question": {
        if (model.has("asked", String(tenant), slot)) return;
        const question = { id, owner, server: slot, tool: slot, argsDigest: Buffer.from(slot), asked: value };
        await store.questions.ask({ ...question, until: Date.now() + 600_000 });
        model.set("asked", String(tenant), slot, user);
        model.set("tenant questions", String(tenant), slot, value);
        return model.set("questions", user, slot, value);
      }
      case "answer": {
        const isOpen = model.has("tenant questions", String(tenant), slot);
        expect(await store.questions.answer(tenant, id, { by: principal, json: `"${value}"` })).toBe(isOpen);
        model.remove("tenant questions", String(tenant), slot);
        for (const each of principals) model.remove("questions", userOf({ tenant, principal: each }), slot);
        return;
      }
      case "definition":
        await store.definitions.add(owner, { server: slot }, new Map([[slot, [value]]]));
        return model.set("definitions", `${user} ${slot}`, value, value);
      case "config":
        await store.configs.push({ tenant, kind: "policy", body: value, author: principal });
        return model.set("configs", String(tenant), value, value);
      case "api key": {
        const key = `${tenant} ${slot} ${principal}`;
        if (model.has("key ids", String(tenant), key)) return;
        const rest = { scopes: [], role: value, networks: [], createdBy: principal };
        await store.apiKeys.add({ id: key, owner, hash: Buffer.from(value), ...rest });
        model.set("key ids", String(tenant), key, key);
        return model.set("keys", String(tenant), key, value);
      }
      case "revoke api key": {
        const key = `${tenant} ${slot} ${principal}`;
        const other = tenant === base ? base + 1 : base;
        expect(await store.apiKeys.revoke(other, key)).toBe(false);
        const isRevoked = model.remove("keys", String(tenant), key);
        model.remove("key ids", String(tenant), key);
        expect(await store.apiKeys.revoke(tenant, key)).toBe(isRevoked);
        return;
      }
      case "client": {
        const registered = await store.clients.add({ tenant, issuer: slot, redirectUri: slot }, value);
        if (!model.has("clients", String(tenant), slot)) model.set("clients", String(tenant), slot, value);
        expect(model.values("clients", String(tenant))).toContain(registered);
        return;
      }
      case "remove client": {
        const key = { tenant, issuer: slot, redirectUri: slot };
        await store.clients.remove(key, (await store.clients.read(key)) ?? "none");
        model.remove("clients", String(tenant), slot);
        return;
      }
      case "revocation":
        await store.revocations.revoke({ ...owner, issuedBefore: values, until: Date.now() + 600_000 });
        return model.set("revocations", user, "one", String(values));
    }
  }

  async function compareUser(model: Model, owner: Owner): Promise<void> {
    const user = userOf(owner);
    const slotsOfGrants = await Promise.all(
      slots.map((slot) => store.grants.read({ ...owner, server: slot, pin: slot })),
    );
    const open = await store.questions.open(owner.tenant, owner.principal);
    const revocations = (await store.revocations.list()).filter((each) => userOf(each) === user);
    const seen = {
      grants: (await store.grants.list(owner)).map(({ secret }) => secret),
      "grants by key": slotsOfGrants.flatMap((grant) => grant?.secret ?? []),
      approvals: (await store.approvals.list(owner)).map(({ digest }) => digest),
      rows: (await store.ledger.read({ ...owner, limit: 1000 })).map(({ tool }) => tool),
      arguments: (await store.ledger.read({ ...owner, limit: 1000 })).map((row) => String(row.arguments?.["of"])),
      questions: open.map(({ asked }) => asked),
      revocations: revocations.map(({ issuedBefore }) => String(issuedBefore)),
    };
    const ports = { "grants by key": "grants", arguments: "rows" } as const;
    for (const [port, found] of Object.entries(seen)) {
      const name = port === "grants by key" || port === "arguments" ? ports[port] : port;
      expect(found.toSorted(), `${port} of ${user}`).toEqual(model.values(name, user));
    }
  }

  async function compareTenant(model: Model, tenant: number): Promise<void> {
    const clients = await Promise.all(
      slots.map((slot) => store.clients.read({ tenant, issuer: slot, redirectUri: slot })),
    );
    const seen = {
      configs: (await store.configs.since(tenant, 0)).map(({ body }) => body),
      keys: (await store.apiKeys.list(tenant)).map(({ role }) => role),
      clients: clients.flatMap((text) => text ?? []),
      "tenant rows": (await store.ledger.read({ tenant, limit: 1000 })).map(({ tool }) => tool),
      "tenant questions": (await store.questions.open(tenant)).map(({ asked }) => asked),
    };
    for (const [port, found] of Object.entries(seen))
      expect(found.toSorted(), `${port} of tenant ${tenant}`).toEqual(model.values(port, String(tenant)));
    for (const principal of principals)
      for (const slot of slots) {
        const owner = { tenant, principal };
        const accepted = (await store.definitions.read(owner, { server: slot })).of(slot) ?? [];
        const all = model.values("definitions", `${userOf(owner)} ${slot}`);
        expect(all).toEqual(expect.arrayContaining([...accepted]));
        expect(accepted).toHaveLength(Math.min(all.length, 8));
      }
  }
});

function userOf({ tenant, principal }: Owner): string {
  return `${tenant} ${principal}`;
}
