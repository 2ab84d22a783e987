/** Nothing of one user is seen by another: three users of each of two tenants, on every endpoint, at any replica. */

import { postgresVersion, scaled, seed, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import { objectOf, stringOf } from "@fairlead/wire/json";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TeamStore } from "../../src/store/store.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { notesServer } from "../support/notes-server.ts";
import { beginSession, legacy, modern, type RawAnswer } from "../support/raw-client.ts";
import {
  conformanceServer,
  type ReplicaProcess,
  sharedStore,
  type TeamScene,
  teamScene,
} from "../support/team-scene.ts";

/** A user with what they have begun. */
interface User {
  readonly tag: string;
  readonly tenant: number;
  readonly principal: string;
  readonly token: string;
  sessions: string[];
  tasks: string[];
  states: string[];
}

const seeded = seed();
const unknownSession = 404;
const asking = { name: "test_input_required_result_elicitation", arguments: {} };

describe.runIf(postgresVersion() !== undefined)(`users and tenants (seed ${seeded})`, () => {
  let database: TestDatabase;
  let suite: Awaited<ReturnType<typeof conformanceServer>>;
  let notes: Awaited<ReturnType<typeof notesServer>>;
  let other: TestIssuer;
  let scene: TeamScene;
  let replicas: readonly ReplicaProcess[];
  let store: TeamStore;
  let users: readonly User[];
  /** Random numbers that can be repeated. */
  let state = seeded;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const oneOf = <T>(items: readonly T[]): T => items[below(items.length)] as T;

  beforeAll(async () => {
    const found = await testDatabase("users and tenants of the team gateway");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
    [suite, notes, other] = await Promise.all([conformanceServer(), notesServer(), startIssuer()]);
    scene = await teamScene(database, {
      servers: { suite: { httpUrl: suite.url }, notes: { httpUrl: notes.url } },
      fairlead: { audit: { arguments: true } },
      otherIssuers: [{ issuer: other.url, tenant: 2 }],
    });
    replicas = await Promise.all([scene.start(), scene.start()]);
    store = await sharedStore(database, scene);
    // The same names in both tenants.
    users = await Promise.all(
      [scene.issuer, other].flatMap((issuer, at) =>
        ["ada", "bob", "eve"].map(async (sub) => ({
          tag: `${sub}-of-${at + 1}`,
          tenant: at + 1,
          principal: `${issuer.url}#${sub}`,
          token: await issuer.sign({ sub, aud: "https://mcp.example/mcp", scope: "mcp:call", client_id: "claude" }),
          sessions: [],
          tasks: [],
          states: [],
        })),
      ),
    );
  });
  afterAll(async () => {
    await store.close();
    await scene[Symbol.asyncDispose]();
    await Promise.all([suite, notes, other].map((each) => each[Symbol.asyncDispose]()));
    await database[Symbol.asyncDispose]();
  });

  const at = (server?: string): string => oneOf(replicas).urlOf(server);
  const textOf = ({ message }: RawAnswer): string => JSON.stringify(message["result"] ?? message);
  const isRefused = ({ message }: RawAnswer): boolean => message["error"] !== undefined;

  /** What a user does, and what the answer must say. */
  const deeds: readonly ((user: User) => Promise<void>)[] = [
    async (user) => {
      const kept = await modern(at("notes"), user.token, "tools/call", { name: "keep", arguments: { text: user.tag } });
      expectOnlyOwn(user, textOf(kept));
    },
    async (user) => {
      const shown = await modern(at(), user.token, "tools/call", { name: "show", arguments: {} });
      expectOnlyOwn(user, textOf(shown));
    },
    async (user) => {
      user.sessions.push(await beginSession(at("notes"), user.token));
    },
    async (user) => {
      const session = user.sessions.at(-1);
      if (session === undefined) return;
      const params = { name: "keep", arguments: { text: user.tag } };
      const kept = await legacy(at("notes"), user.token, { id: 7, method: "tools/call", params }, session);
      expect(kept.status).toBe(200);
      expectOnlyOwn(user, textOf(kept));
    },
    async (user) => {
      const begun = await modern(at("suite"), user.token, "tools/call", {
        name: "slow_compute",
        arguments: { seconds: 0, label: user.tag },
      });
      const task = stringOf(objectOf(begun.message["result"])["taskId"]);
      expect(task, textOf(begun)).toBeDefined();
      user.tasks.push(task ?? "");
    },
    async (user) => {
      const asked = await modern(at("suite"), user.token, "tools/call", asking);
      user.states.push(stringOf(objectOf(asked.message["result"])["requestState"]) ?? "none");
    },
  ];

  /** What a user tries with what belongs to another one. */
  const thefts: readonly ((thief: User, owner: User) => Promise<void>)[] = [
    async (thief, owner) => {
      const session = owner.sessions.at(-1);
      if (session === undefined) return;
      const stolen = await legacy(at("notes"), thief.token, { id: 7, method: "tools/list", params: {} }, session);
      expect(stolen.status).toBe(unknownSession);
      for (const method of ["GET", "DELETE"]) {
        const headers = {
          authorization: `Bearer ${thief.token}`,
          "mcp-session-id": session,
          accept: "text/event-stream",
        };
        const response = await fetch(at("notes"), { method, headers });
        await response.body?.cancel();
        expect(response.status).toBe(unknownSession);
      }
      const still = await legacy(at("notes"), owner.token, { id: 8, method: "tools/list", params: {} }, session);
      expect(still.status).toBe(200);
    },
    async (thief, owner) => {
      const taskId = owner.tasks.at(-1);
      if (taskId === undefined) return;
      for (const method of ["tasks/get", "tasks/cancel"])
        expect(isRefused(await modern(at("suite"), thief.token, method, { taskId })), method).toBe(true);
      const still = await modern(at("suite"), owner.token, "tasks/get", { taskId });
      expect(isRefused(still), textOf(still)).toBe(false);
      expectOnlyOwn(owner, textOf(still));
    },
    async (thief, owner) => {
      const requestState = owner.states.pop();
      if (requestState === undefined) return;
      const inputResponses = { user_name: { action: "accept", content: { name: owner.tag } } };
      const answered = { ...asking, requestState, inputResponses };
      expect(isRefused(await modern(at("suite"), thief.token, "tools/call", answered))).toBe(true);
      const still = await modern(at("suite"), owner.token, "tools/call", answered);
      expect(textOf(still)).toContain(owner.tag);
    },
    async (thief, owner) => {
      const session = owner.sessions.at(-1);
      if (session === undefined) return;
      // The session belongs to one endpoint, too.
      expect((await legacy(at("suite"), owner.token, { id: 9, method: "ping" }, session)).status).toBe(unknownSession);
      expect((await legacy(at(), thief.token, { id: 9, method: "ping" }, session)).status).toBe(unknownSession);
    },
  ];

  function expectOnlyOwn(user: User, text: string): void {
    for (const { tag } of users) if (tag !== user.tag) expect(text).not.toContain(tag);
  }

  it("see nothing of each other, whatever they do", async () => {
    for (let step = 0; step < scaled(2000, 60); step += 1) {
      const user = oneOf(users);
      await oneOf(deeds)(user);
      const thief = oneOf(users.filter((each) => each !== user));
      await oneOf(thefts)(thief, user);
    }
    for (const user of users) {
      const { tenant, principal } = user;
      const own = await store.ledger.read({ tenant, principal, limit: 1000 });
      expectOnlyOwn(user, JSON.stringify(own));
      for (const row of own) expect(row.owner).toEqual({ tenant, principal });
    }
    for (const tenant of [1, 2]) {
      const rows = JSON.stringify(await store.ledger.read({ tenant, limit: 10_000 }));
      for (const user of users) if (user.tenant !== tenant) expect(rows).not.toContain(user.tag);
    }
    for (const replica of replicas) expect(replica.words).toEqual([]);
  });
});
