/** The contracts of the ports that only replicas need: one machine has nobody to share them with. */

import { hash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TeamStore } from "../../../src/store/store.ts";

export function smallContracts(open: () => TeamStore): void {
  const ada = () => ({ tenant: 1, principal: `iss#${randomUUID()}` });

  describe("client registrations", () => {
    const newKey = () => ({
      tenant: 1,
      issuer: `https://${randomUUID()}.example`,
      redirectUri: "https://gateway/oauth",
    });

    it("of the first replica are used by all", async () => {
      const key = newKey();
      expect(await open().clients.read(key)).toBeUndefined();
      const texts = Array.from({ length: 8 }, (_, index) => `registration ${index}`);
      const results = await Promise.all(texts.map((text) => open().clients.add(key, text)));
      expect(new Set(results).size).toBe(1);
      expect(await open().clients.read(key)).toBe(results[0]);
    });

    it("are removed unless they were replaced", async () => {
      const key = newKey();
      await open().clients.add(key, "new");
      await open().clients.remove(key, "old");
      expect(await open().clients.read(key)).toBe("new");
      await open().clients.remove(key, "new");
      expect(await open().clients.read(key)).toBeUndefined();
    });

    it("belong to a tenant, an issuer and a redirect URI", async () => {
      const key = newKey();
      await open().clients.add(key, "own");
      for (const other of [{ tenant: 2 }, { issuer: "https://other.example" }, { redirectUri: "https://other" }])
        expect(await open().clients.read({ ...key, ...other })).toBeUndefined();
    });
  });

  describe("versions of policy and settings", () => {
    let tenants = 1000;
    const newTenant = () => {
      tenants += 1;
      return tenants;
    };
    const push = (tenant: number, body: string, expected?: number) =>
      open().configs.push({ tenant, kind: "policy", body, author: "iss#ada" }, expected);

    it("increase, and the newest is the current one", async () => {
      const tenant = newTenant();
      expect(await open().configs.current(tenant, "policy")).toBeUndefined();
      const one = await push(tenant, "one", 0);
      const settings = await open().configs.push({ tenant, kind: "settings", body: "{}", author: "iss#eve" });
      const two = await push(tenant, "two", one.version);
      expect(one.version).toBeLessThan(settings.version);
      expect(settings.version).toBeLessThan(two.version);
      expect(two.sha256).toBe(hash("sha256", "two", "hex"));
      expect(await open().configs.current(tenant, "policy")).toEqual(two);
      expect(await open().configs.current(tenant, "settings")).toEqual(settings);
      expect(await open().configs.read(tenant, one.version)).toEqual(one);
      expect(await open().configs.since(tenant, one.version)).toEqual([settings, two]);
    });

    it("are refused if the author has not seen the current one", async () => {
      const tenant = newTenant();
      const one = await push(tenant, "one");
      await push(tenant, "two");
      await expect(push(tenant, "three", one.version)).rejects.toMatchObject({ code: "changed" });
      await expect(push(tenant, "three", 0)).rejects.toMatchObject({ code: "changed" });
    });

    it("become visible in their order, also if they are pushed at once", async () => {
      const tenant = newTenant();
      const seen: number[] = [];
      // Each reader begins after the last version that it has seen, as a replica does.
      const read = async (): Promise<void> => {
        for (const { version } of await open().configs.since(tenant, seen.at(-1) ?? 0)) seen.push(version);
      };
      let reading = Promise.resolve();
      const pushed = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const { version } = await push(tenant, String(index));
          reading = reading.then(read);
          return version;
        }),
      );
      await reading;
      expect(seen).toEqual(pushed.toSorted((one, other) => one - other));
    });

    it("of a tenant are not those of another", async () => {
      const tenant = newTenant();
      const { version } = await push(tenant, "own");
      expect(await open().configs.read(newTenant(), version)).toBeUndefined();
      expect(await open().configs.since(newTenant(), 0)).toEqual([]);
    });
  });

  describe("questions", () => {
    const newQuestion = (owner = ada(), until = Date.now() + 60_000) => ({
      id: randomUUID(),
      owner,
      server: "demo",
      tool: "pay",
      argsDigest: Buffer.from("digest"),
      asked: '{"amount":5}',
      until,
    });

    it("take one answer: the first", async () => {
      const question = newQuestion();
      await open().questions.ask(question);
      expect(await open().questions.read(1, question.id)).toEqual({ ...question, state: "open" });
      const answers = await Promise.all(
        ["one", "two", "three", "four"].map((by) => open().questions.answer(1, question.id, { by, json: `"${by}"` })),
      );
      expect(answers.filter(Boolean)).toHaveLength(1);
      const found = await open().questions.read(1, question.id);
      expect(found?.state).toBe("answered");
      expect(found?.answer).toBe(`"${found?.answeredBy}"`);
    });

    it("are found by their user and what they are about, and their answer is taken by one request of several", async () => {
      const argsDigest = Buffer.from(randomUUID());
      const question = { ...newQuestion(), argsDigest };
      await open().questions.ask(question);
      const { questions } = open();
      expect(await questions.find(question.owner, argsDigest)).toMatchObject({ id: question.id, state: "open" });
      expect(await questions.find(ada(), argsDigest)).toBeUndefined();
      expect(await questions.find(question.owner, Buffer.from("other"))).toBeUndefined();
      expect(await questions.take(question.owner, argsDigest)).toBeUndefined();
      await questions.answer(1, question.id, { by: "iss#lead", json: "true" });
      expect(await questions.find(question.owner, argsDigest)).toBeUndefined();
      expect(await questions.take({ ...question.owner, tenant: 2 }, argsDigest)).toBeUndefined();
      const taken = await Promise.all(Array.from({ length: 4 }, () => questions.take(question.owner, argsDigest)));
      expect(taken.flatMap((each) => each ?? [])).toMatchObject([
        { id: question.id, state: "used", answer: "true", answeredBy: "iss#lead" },
      ]);
      expect((await questions.read(1, question.id))?.state).toBe("used");
    });

    it("whose time is over have no answer to take", async () => {
      const question = { ...newQuestion(ada(), Date.now() + 150), argsDigest: Buffer.from(randomUUID()) };
      await open().questions.ask(question);
      await open().questions.answer(1, question.id, { by: "iss#lead", json: "true" });
      await expect.poll(() => Date.now() > question.until + 50).toBe(true);
      expect(await open().questions.take(question.owner, question.argsDigest)).toBeUndefined();
    });

    it("that are withdrawn or too old take no answer", async () => {
      const [withdrawn, old] = [newQuestion(), newQuestion(ada(), Date.now() - 1)];
      for (const question of [withdrawn, old]) await open().questions.ask(question);
      expect(await open().questions.withdraw(1, withdrawn.id)).toBe(true);
      expect(await open().questions.withdraw(1, withdrawn.id)).toBe(false);
      for (const { id } of [withdrawn, old, newQuestion()])
        expect(await open().questions.answer(1, id, { by: "iss#ada", json: "true" })).toBe(false);
    });

    it("are listed for their user, oldest first, and for approvers of the tenant", async () => {
      const owner = { ...ada(), tenant: 77 };
      const [one, two, answered] = [newQuestion(owner), newQuestion(owner), newQuestion(owner)];
      const other = newQuestion({ ...ada(), tenant: 77 });
      for (const question of [one, two, answered, other]) await open().questions.ask(question);
      await open().questions.answer(77, answered.id, { by: "iss#ada", json: "true" });
      const ids = async (principal?: string) => (await open().questions.open(77, principal)).map(({ id }) => id);
      expect(await ids(owner.principal)).toEqual([one.id, two.id]);
      expect(await ids()).toEqual([one.id, two.id, other.id]);
      expect(await open().questions.read(1, one.id)).toBeUndefined();
      expect(await open().questions.answer(1, one.id, { by: "iss#eve", json: "true" })).toBe(false);
    });
  });

  describe("users", () => {
    it("are there with the groups of their latest token, each in a tenant", async () => {
      const { tenant, principal } = ada();
      const { users } = open();
      await users.seen({ tenant, principal, groups: ["old"], issuedAt: 1000 });
      await users.seen({ tenant, principal, groups: ["engineers", "leads"], issuedAt: 2000 });
      await users.seen({ tenant: 2, principal, groups: ["other"], issuedAt: 3000 });
      // A token that was issued earlier comes to another replica later.
      await users.seen({ tenant, principal, groups: ["old"], issuedAt: 1000 });
      const found = await users.groupsOf(tenant, [principal, "iss#unknown"]);
      expect([...found]).toEqual([[principal, ["engineers", "leads"]]]);
    });
  });

  describe("rate limits", () => {
    it("give no more than the burst at once, however many ask", async () => {
      const key = randomUUID();
      const shares = await Promise.all(
        Array.from({ length: 20 }, () => open().limits.take(key, { rate: 0.000_001, burst: 50 }, 20)),
      );
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(50);
      expect(shares.filter((share) => share > 0).toSorted((one, other) => other - one)).toEqual([20, 20, 10]);
    });

    it("fill up again with time, never above the burst", async () => {
      const key = randomUUID();
      const rule = { rate: 1_000_000, burst: 10 };
      expect(await open().limits.take(key, rule, 10)).toBe(10);
      expect(await open().limits.take(key, rule, 100)).toBe(10);
    });
  });

  describe("API keys", () => {
    const newApiKey = (tenant = 1) => ({
      id: randomUUID(),
      owner: { ...ada(), tenant },
      hash: Buffer.from("hash"),
      scopes: ["mcp:call"],
      role: "user",
      networks: ["10.0.0.0/8"],
      expiresAt: 1_900_000_000_000,
      createdBy: "iss#admin",
    });

    it("are added, used, listed and revoked", async () => {
      const key = newApiKey(4);
      await open().apiKeys.add(key);
      await open().apiKeys.used(key.id, "2026-11-18");
      await open().apiKeys.used(key.id, "2026-11-18");
      const used = { ...key, lastUsedDay: "2026-11-18" };
      expect(await open().apiKeys.read(key.id)).toEqual(used);
      expect(await open().apiKeys.list(4)).toEqual([used]);
      expect(await open().apiKeys.revoke(5, key.id)).toBe(false);
      expect(await open().apiKeys.revoke(4, key.id)).toBe(true);
      expect(await open().apiKeys.read(key.id)).toBeUndefined();
      expect(await open().apiKeys.read("\0")).toBeUndefined();
    });
  });

  describe("ids that count once", () => {
    it("are used up by one of all who try", async () => {
      const id = `${randomUUID()}\0${"x".repeat(10_000)}`;
      const tries = await Promise.all(
        Array.from({ length: 10 }, () => open().consumed.consume(id, Date.now() + 60_000)),
      );
      expect(tries.filter(Boolean)).toHaveLength(1);
    });
  });

  describe("revocations", () => {
    it("are listed while they are in force, and never become shorter", async () => {
      const [owner, over] = [ada(), ada()];
      const now = Date.now();
      await open().revocations.revoke({ ...owner, issuedBefore: now, until: now + 60_000 });
      await open().revocations.revoke({ ...owner, issuedBefore: now - 5000, until: now + 30_000 });
      await open().revocations.revoke({ ...over, issuedBefore: now, until: now - 1 });
      const listed = (await open().revocations.list()).filter(({ principal }) =>
        [owner.principal, over.principal].includes(principal),
      );
      expect(listed).toEqual([{ ...owner, issuedBefore: now, until: now + 60_000 }]);
    });
  });

  describe("replicas", () => {
    it("have small numbers of their own, and report", async () => {
      const newReplica = () => ({ address: randomUUID(), version: "1.0.0", startedAt: Date.now() });
      const replicas = Array.from({ length: 6 }, newReplica);
      const ids = await Promise.all(replicas.map((replica) => open().replicas.register(replica)));
      expect(ids.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6]);
      const [first = newReplica(), id = 0] = [replicas[0], ids[0]];
      const report = {
        ...first,
        id,
        spoolRows: 3,
        policyReadAt: 1_790_000_000_000,
        configVersion: 7,
        configProblem: "line 3 is invalid",
        isDraining: true,
      };
      await open().replicas.report(report);
      expect((await open().replicas.list()).find((each) => each.id === id)).toEqual({
        ...report,
        seenAt: expect.any(Number),
      });
      await open().replicas.unregister(id);
      expect((await open().replicas.list()).map((each) => each.id)).not.toContain(id);
      // The number is free, so this replica gets it again.
      await open().replicas.report(report);
      const stranger = open().replicas.report({ ...report, address: "another" });
      await expect(stranger).rejects.toMatchObject({ code: "changed" });
      for (const each of ids) await open().replicas.unregister(each);
    });
  });

  describe("messages between replicas", () => {
    const until = Date.now() + 60_000;

    it("reach one address, in their order, and stay there until their end", async () => {
      const [address, other] = [randomUUID(), randomUUID()];
      await open().messages.send(address, { text: "one", until });
      await open().messages.send(other, { text: "other", until });
      await open().messages.send(address, { text: "two", until });
      await open().messages.send(address, { text: "too old", until: Date.now() - 1000 });
      const list = await open().messages.list([address]);
      expect(list.map(({ text }) => text)).toEqual(["one", "two"]);
      expect(new Set((await open().messages.list([address, other])).map((each) => each.address))).toEqual(
        new Set([address, other]),
      );
      expect(await open().messages.list([])).toEqual([]);
    });

    it("with a key replace the earlier one, and have a new number", async () => {
      const address = randomUUID();
      await open().messages.send(address, { text: "info", until, key: "level" });
      const [first] = await open().messages.list([address]);
      await open().messages.send(address, { text: "error", until, key: "level" });
      await open().messages.send(address, { text: "other", until, key: "another" });
      const list = await open().messages.list([address]);
      expect(list.map(({ text }) => text)).toEqual(["error", "other"]);
      expect(list[0]?.number).toBeGreaterThan(first?.number ?? 0);
    });
  });

  describe("hints", () => {
    // Other tests change keys and versions too, and their hints may still be on the way.
    it("reach every listener of their topic, after a first call without an id", async () => {
      const own = randomUUID();
      const listen = () =>
        new Promise<readonly (string | undefined)[]>((resolve) => {
          const heard: (string | undefined)[] = [];
          const stop = open().hints.listen("config", (id) => {
            heard.push(id);
            if (heard.length === 1) open().hints.send("config", own);
            if (id !== own) return;
            stop();
            resolve(heard);
          });
        });
      for (const heard of await Promise.all([listen(), listen()])) expect(heard[0]).toBeUndefined();
    });

    it("of a topic are joined into one without an id if there are many at once", async () => {
      const ids = Array.from({ length: 200 }, () => randomUUID());
      const heard: (string | undefined)[] = [];
      await new Promise<void>((resolve) => {
        const stop = open().hints.listen("api_key", (id) => {
          heard.push(id);
          if (heard.length === 1) for (const each of ids) open().hints.send("api_key", each);
          else if (id === undefined) {
            stop();
            resolve();
          }
        });
      });
      // The first one may be sent alone. The others wait together.
      expect(heard.filter((id) => ids.some((each) => each === id)).length).toBeLessThanOrEqual(1);
    });
  });
}
