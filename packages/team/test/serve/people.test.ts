/** What people decide and how much they send, over two replicas as processes: approvals, approvers and limits. */

import { postgresVersion, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { member, objectOf } from "@fairlead/wire/json";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TeamAdmin } from "../../src/admin/team-admin.ts";
import { createApiKey } from "../../src/auth/api-key-verifier.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { type CountingServer, countingServer } from "../support/counting-server.ts";
import { modern } from "../support/raw-client.ts";
import { allowAll, type ReplicaProcess, sharedStore, type TeamScene, teamScene } from "../support/team-scene.ts";

const rules = `${allowAll}
[[rule]]
mcpName = "counted"
toolName = "count"
argsPattern = '"id":"own'
decision = "ask_user"
priority = 600

[[rule]]
mcpName = "counted"
toolName = "count"
argsPattern = '"id":"lead'
decision = "ask_user"
approver = "leads"
priority = 700

[[rule]]
mcpName = "counted"
group = "contractors"
decision = "deny"
priority = 800
`;

describe.runIf(postgresVersion() !== undefined)("the people of a team, with two replicas", () => {
  let database: TestDatabase;
  let upstream: CountingServer;
  let scene: TeamScene;
  let replicas: readonly [ReplicaProcess, ReplicaProcess];
  let store: TeamStore;

  beforeAll(async () => {
    const found = await testDatabase("approvals and limits of a team");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
    upstream = await countingServer();
    scene = await teamScene(database, {
      servers: { counted: { httpUrl: upstream.url }, slow: { httpUrl: upstream.url } },
      team: { limits: { perServer: { slow: "1/h burst 6" } } },
      rules,
    });
    replicas = [await scene.start(), await scene.start()];
    store = await sharedStore(database, scene);
  });
  afterAll(async () => {
    await store.close();
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const url = { elicitation: { url: {} } };
  const principalOf = (user: string) => `${scene.issuer.url}#${user}`;
  const call = async (
    at: 0 | 1,
    user: string,
    id: string,
    { answers = {}, server = "counted", capabilities = url as JsonObject } = {},
  ) => {
    const params = { name: "count", arguments: { id }, ...answers };
    const { message } = await modern(
      replicas[at].urlOf(server),
      await scene.tokenOf(user),
      "tools/call",
      params,
      capabilities,
    );
    return message;
  };
  const actor = (user: string, ...groups: string[]) =>
    new TeamAdmin({
      store,
      ring: scene.ring,
      tenant: 1,
      actor: { principal: principalOf(user), roles: new Set(["user"]), groups },
      now: Date.now,
    });
  /** What the client sends when its user has agreed to open the page. */
  const again = (message: JsonObject) => ({
    requestState: member(message["result"], "requestState"),
    inputResponses: { fairlead_approval: { action: "accept" } },
  });
  const linkIn = (message: JsonObject) => {
    const asked = objectOf(member(member(message["result"], "inputRequests"), "fairlead_approval"));
    return String(member(asked["params"], "url"));
  };
  const ranOf = (id: string) => upstream.executed.filter((each) => each === id).length;

  it("a user answers on a page, and the request runs once, at the other replica", async () => {
    const first = await call(0, "ada", "own-1");
    expect(first).toMatchObject({ result: { resultType: "input_required" } });
    const link = linkIn(first);
    expect(link).toMatch(/^https:\/\/mcp\.example\/approvals\/[\w-]{36}$/);
    const id = link.slice(-36);
    expect((await actor("eve").questions()).map(({ stored }) => stored.id)).toEqual([]);
    await actor("ada").answer(id, { answer: "once" });
    const done = await call(1, "ada", "own-1", { answers: again(first) });
    expect(done).toMatchObject({ result: { content: [{ text: "own-1" }] } });
    expect(ranOf("own-1")).toBe(1);
    // The answer is used up: the same state runs nothing with it.
    expect(await call(0, "ada", "own-1", { answers: again(first) })).toMatchObject({
      result: { resultType: "input_required" },
    });
    expect(ranOf("own-1")).toBe(1);
  });

  it("an approver answers in place of the user, and the history has both", async () => {
    const first = await call(0, "ada", "lead-1");
    const id = linkIn(first).slice(-36);
    await expect(actor("ada", "leads").answer(id, { answer: "once" })).rejects.toMatchObject({ code: "denied" });
    await actor("lea", "leads").answer(id, { answer: "once" });
    expect(await call(1, "ada", "lead-1", { answers: again(first) })).toMatchObject({
      result: { content: [{ text: "lead-1" }] },
    });
    const search = { tenant: 1, server: "counted", limit: 10 };
    const [row] = await store.ledger.read({ ...search, principal: principalOf("ada"), outcome: "ok" });
    expect(row).toMatchObject({ decision: "ask_user", answer: "asked", answeredIn: "page" });
    const [given] = await store.ledger.read({ tenant: 1, kind: "admin", principal: principalOf("lea"), limit: 1 });
    expect(given).toMatchObject({
      tool: "approvals allow",
      rule: "a member of leads answers",
      arguments: { user: principalOf("ada"), tool: "count", question: id },
    });
  });

  it("a no reaches the model with its reason, and nothing runs", async () => {
    const first = await call(1, "ada", "lead-2");
    await actor("lea", "leads").answer(linkIn(first).slice(-36), { answer: "no", because: "not on Fridays" });
    expect(JSON.stringify(await call(0, "ada", "lead-2", { answers: again(first) }))).toContain("not on Fridays");
    expect(ranOf("lead-2")).toBe(0);
  });

  it("a client whose user does not open the page gets a refusal, and one that cannot open pages waits", async () => {
    const first = await call(0, "ada", "lead-3");
    const answers = { ...again(first), inputResponses: { fairlead_approval: { action: "decline" } } };
    expect(await call(1, "ada", "lead-3", { answers })).toMatchObject({
      error: { data: { reason: "needs_approval" } },
    });
    const waiting = call(1, "cyd", "lead-4", { capabilities: {} });
    let id: string | undefined;
    await expect
      .poll(async () => {
        const open = await actor("lea", "leads").questions();
        id = open.find(({ stored }) => stored.owner.principal === principalOf("cyd"))?.stored.id;
        return id;
      })
      .toBeDefined();
    await actor("lea", "leads").answer(id ?? "", { answer: "once" });
    expect(await waiting).toMatchObject({ result: { content: [{ text: "lead-4" }] } });
  });

  it("a rule about a group is about the API keys of its members too, and a key takes no groups from its person", async () => {
    const owner = { tenant: 1, principal: principalOf("con") };
    const { key, text } = createApiKey({ owner, scopes: ["mcp:call"], role: "user", networks: [], createdBy: "test" });
    await store.apiKeys.add(key);
    const token = await scene.tokenOf("con", { groups: ["contractors"] });
    const params = { name: "count", arguments: { id: "con" } };
    for (const credential of [token, text, token]) {
      const { message } = await modern(replicas[0].urlOf("counted"), credential, "tools/call", params, url);
      expect(JSON.stringify(message)).toContain("denied");
    }
    expect(ranOf("con")).toBe(0);
    const found = await store.users.groupsOf(1, [owner.principal]);
    expect(found.get(owner.principal)).toEqual(["contractors"]);
  });

  it("above a limit requests get busy with the time to wait, at both replicas together, and rows say so", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, at) => call(at % 2 === 0 ? 0 : 1, `user-${at}`, `slow-${at}`, { server: "slow" })),
    );
    const refused = outcomes.filter((message) => message["error"] !== undefined);
    const words = refused.map((message) => JSON.stringify(message));
    expect(words.filter((text) => !text.includes('"reason":"busy","server":"slow"'))).toEqual([]);
    for (const text of words) expect(text).toMatch(/"retryAfterMs":3[56]\d{5}\b/);
    // Shares are of three: what one replica has left of its share, the other one cannot use.
    const ran = outcomes.length - refused.length;
    expect([4, 5, 6]).toContain(ran);
    expect(upstream.executed.filter((id) => id.startsWith("slow-"))).toHaveLength(ran);
    const rows = await store.ledger.read({ tenant: 1, server: "slow", outcome: "busy", limit: 20 });
    expect(rows).toHaveLength(refused.length);
  });
});
