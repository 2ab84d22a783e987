/**
 * Nothing of one user is seen by another: three users of each of two tenants, on every endpoint and every page, at any
 * replica.
 */

import { hash } from "node:crypto";
import {
  type AuthorizationServer,
  authorizationServer,
  browser,
  type GuardedServer,
  guardedServer,
  postgresVersion,
  scaled,
  seed,
  type TestDatabase,
  testDatabase,
  type WebReply,
} from "@fairlead/test-servers";
import { objectOf, parseJson, stringOf } from "@fairlead/wire/json";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey } from "../../src/auth/api-key-verifier.ts";
import { BrowserSessions } from "../../src/sign-in/browser-session.ts";
import { EncryptedValues } from "../../src/sign-in/encrypted-values.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { notesServer } from "../support/notes-server.ts";
import { beginSession, legacy, modern, type RawAnswer } from "../support/raw-client.ts";
import {
  allowAll,
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
  /** An API key of the user. */
  readonly key: string;
  /** Of a browser that is logged in. */
  readonly cookie: string;
  /** The paths of questions that wait. */
  questions: string[];
  sessions: string[];
  tasks: string[];
  states: string[];
}

const seeded = seed();
const unknownSession = 404;
const publicUrl = "https://mcp.example";
const browserClient = { clientId: "pages" };
const rules = `${allowAll}
[[rule]]
mcpName = "notes"
argsPattern = '"text":"ask'
decision = "ask_user"
priority = 600
`;

/** Answers as the person of the token, in lists as in results. */
const personal: WebReply = ({ headers, body }, response) => {
  const { id, method } = objectOf(parseJson(body));
  const mark = `mark-${hash("sha256", String(headers["authorization"])).slice(0, 16)}`;
  const serverInfo = { name: "personal", version: "1.0.0" };
  const results: Readonly<Record<string, unknown>> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
    "tools/list": { tools: ["whoami", mark].map((name) => ({ name, inputSchema: { type: "object" } })) },
    "tools/call": { content: [{ type: "text", text: mark }] },
    ping: {},
  };
  if (id === undefined) return void response.writeHead(202).end();
  const result = results[String(method)];
  const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
};

const asking = { name: "test_input_required_result_elicitation", arguments: {} };

describe.runIf(postgresVersion() !== undefined)(`users and tenants (seed ${seeded})`, () => {
  let database: TestDatabase;
  let suite: Awaited<ReturnType<typeof conformanceServer>>;
  let notes: Awaited<ReturnType<typeof notesServer>>;
  let other: TestIssuer;
  let authorization: AuthorizationServer;
  let guarded: GuardedServer;
  let scene: TeamScene;
  let replicas: readonly ReplicaProcess[];
  let store: TeamStore;
  let users: readonly User[];
  let encryption: EncryptedValues;
  let browserSessions: BrowserSessions;
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
    authorization = await authorizationServer({ consent: "automatic" });
    guarded = await guardedServer({ authorization, serves: personal });
    scene = await teamScene(database, {
      servers: { suite: { httpUrl: suite.url }, notes: { httpUrl: notes.url }, personal: { httpUrl: guarded.url } },
      fairlead: { audit: { arguments: true } },
      issuer: { browser: browserClient },
      otherIssuers: [{ issuer: other.url, tenant: 2, browser: browserClient }],
      rules,
    });
    encryption = new EncryptedValues(scene.ring, Date.now);
    browserSessions = new BrowserSessions(encryption, { has: () => false }, Date.now);
    replicas = await Promise.all([scene.start(), scene.start()]);
    store = await sharedStore(database, scene);
    // The same names in both tenants.
    users = await Promise.all(
      [scene.issuer, other].flatMap((issuer, at) =>
        ["ada", "bob", "eve"].map(async (sub) => {
          const tag = `${sub}-of-${at + 1}`;
          const owner = { tenant: at + 1, principal: `${issuer.url}#${sub}` };
          const rights = { scopes: ["mcp:call"], role: "user", networks: [], createdBy: "test" };
          const { key, text } = createApiKey({ owner, ...rights });
          await store.apiKeys.add(key);
          return {
            tag,
            ...owner,
            token: await issuer.sign({ sub, aud: `${publicUrl}/mcp`, scope: "mcp:call", client_id: "claude" }),
            key: text,
            cookie: browserSessions.begin(owner, tag).split(";")[0] ?? "",
            questions: [],
            sessions: [],
            tasks: [],
            states: [],
          };
        }),
      ),
    );
  });
  afterAll(async () => {
    await store.close();
    await scene[Symbol.asyncDispose]();
    await guarded[Symbol.asyncDispose]();
    await Promise.all([suite, notes, other, authorization].map((each) => each[Symbol.asyncDispose]()));
    await database[Symbol.asyncDispose]();
  });

  const at = (server?: string): string => oneOf(replicas).urlOf(server);
  const textOf = ({ message }: RawAnswer): string => JSON.stringify(message["result"] ?? message);
  const isRefused = ({ message }: RawAnswer): boolean => message["error"] !== undefined;

  const page = async (user: Pick<User, "cookie">, path: string, form?: Readonly<Record<string, string>>) => {
    const response = await fetch(`${oneOf(replicas).origin}${path}`, {
      redirect: "manual",
      headers: { cookie: user.cookie, ...(form && { origin: publicUrl }) },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const formTokenIn = (text: string): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "no token";
  const sessionOf = ({ cookie }: User) =>
    browserSessions.read(cookie) ?? { id: "", owner: { tenant: 0, principal: "" }, name: "" };
  /** The user signs in to the server at which each token is another person. `thief` tries to end it. */
  const signIn = async (user: User, thief?: User): Promise<void> => {
    const path = "/connect/personal";
    const consent = await page(user, path);
    expect(consent.status).toBe(200);
    const token = formTokenIn(consent.text);
    if (thief !== undefined) expect((await page(thief, path, { token })).status).toBe(400);
    const left = await page(user, path, { token });
    const address = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(left.text)?.[1] ?? "";
    const { address: back } = await browser(address.replaceAll("&#38;", "&"), { visits: false });
    const callback = `/oauth/callback${new URL(back).search}`;
    if (thief !== undefined) expect((await page(thief, callback)).status).toBe(400);
    expect((await page(user, callback)).status).toBe(303);
  };
  /** Whose token the server has seen, by what it calls the token. */
  const owners = new Map<string, string>();
  const expectOwnMarks = ({ tag }: User, text: string): void => {
    const marks = text.match(/mark-[0-9a-f]{16}/g) ?? [];
    for (const mark of marks) {
      expect(owners.get(mark) ?? tag).toBe(tag);
      owners.set(mark, tag);
    }
  };

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
    async (user) => {
      const credential = oneOf([user.token, user.key]);
      const listed = textOf(await modern(at("personal"), credential, "tools/list"));
      expectOwnMarks(user, listed);
      const called = textOf(await modern(at("personal"), credential, "tools/call", { name: "whoami", arguments: {} }));
      expectOwnMarks(user, called);
      if (!called.includes("mark-")) await signIn(user);
    },
    async (user) => {
      const args = { name: "keep", arguments: { text: `ask ${user.tag} ${below(1_000_000)}` } };
      const { message } = await modern(at("notes"), user.token, "tools/call", args, { elicitation: { url: {} } });
      const link = /"url":"https:\/\/mcp\.example(\/approvals\/[\w-]+)"/.exec(JSON.stringify(message))?.[1];
      expect(link, JSON.stringify(message)).toBeDefined();
      user.questions.push(link ?? "");
      const list = await page(user, "/approvals");
      expect(list.text).toContain(link);
      for (const each of users)
        if (each !== user) for (const path of each.questions) expect(list.text).not.toContain(path);
      expectOnlyOwn(user, list.text);
    },
    async (user) => {
      const { status, text } = await page(user, "/connect");
      expect(status).toBe(200);
      expectOnlyOwn(user, text);
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
      const path = owner.questions.at(-1);
      if (path === undefined) return;
      const id = path.slice("/approvals/".length);
      const token = browserSessions.formToken(sessionOf(thief), `approve ${id}`);
      const theirs = formTokenIn((await page(owner, path)).text);
      for (const form of [undefined, { answer: "once", token }, { answer: "once", token: theirs }]) {
        const stolen = await page(thief, path, form);
        expect(stolen.status).toBe(400);
        expect(stolen.text).not.toContain(owner.tag);
      }
      const still = await page(owner, path);
      expect(still.text).toContain(owner.tag);
      expect(formTokenIn(still.text)).not.toBe("no token");
      if (below(2) === 0) return;
      owner.questions.pop();
      expect((await page(owner, path, { answer: "no", token: theirs })).status).toBe(200);
    },
    async (thief, owner) => {
      await signIn(owner, thief);
      // A link of the owner's program, and the owner's form for the end of the sign-in.
      const asked = { tenant: owner.tenant, principal: owner.principal, client: "claude", scopes: [] };
      const opened = await page(thief, `/connect/personal?s=${encryption.encrypt("link", ["personal"], asked)}`);
      expect(opened.status).toBe(403);
      expect(opened.text).not.toContain(owner.tag);
      const token = browserSessions.formToken(sessionOf(owner), "disconnect");
      expect((await page(thief, "/connect", { do: "disconnect", server: "personal", token })).status).toBe(400);
      const own = browserSessions.formToken(sessionOf(thief), "disconnect");
      if (below(3) === 0) await page(thief, "/connect", { do: "disconnect", server: "personal", token: own });
      const { message } = await modern(at("personal"), owner.token, "tools/call", { name: "whoami", arguments: {} });
      expect(JSON.stringify(message)).toContain("mark-");
      expectOwnMarks(owner, JSON.stringify(message));
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
