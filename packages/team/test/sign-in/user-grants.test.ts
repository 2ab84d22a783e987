/** Tokens of users on one replica: cached, refreshed once, refused, while the issuer or PostgreSQL is away. */

import { systemClock } from "@fairlead/core";
import type { TokenKeeper } from "@fairlead/core/auth";
import { createBoundedFetch } from "@fairlead/core/connect";
import {
  type AuthorizationServer,
  after,
  answerLost,
  authorizationServer,
  browser,
  createDatabase,
  deferred,
  type GuardedServer,
  guardedServer,
  noteProgram,
  PostgresServer,
  postgresVersion,
  until,
} from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EncryptedValues } from "../../src/sign-in/encrypted-values.ts";
import { ServerSignIns } from "../../src/sign-in/server-sign-in.ts";
import { UserGrants } from "../../src/sign-in/user-grants.ts";
import type { GrantStore } from "../../src/store/grants.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { disposable, openStore, ring } from "../support/open-store.ts";

noteProgram("tokens of users", "PostgreSQL", postgresVersion());
const redirectUri = "https://gateway.example/oauth/callback";
const minute = 60_000;

describe.runIf(postgresVersion() !== undefined)("the token of a user", () => {
  let postgres: PostgresServer;
  let issuer: AuthorizationServer;
  let server: GuardedServer;
  beforeAll(async () => {
    const opened = await PostgresServer.open();
    if (opened === undefined) throw new Error("PostgreSQL is absent");
    postgres = opened;
    issuer = await authorizationServer({ consent: "automatic" });
    server = await guardedServer({ authorization: issuer });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  /** A replica, a user who is signed in, and the time of the replica. */
  async function scene(from = postgres) {
    const database = await createDatabase(from);
    const store = disposable(await openStore(database));
    const time = { ahead: 0 };
    const now = () => Date.now() + time.ahead;
    const target = { serverName: "notes", serverUrl: server.url, pin: undefined };
    const fetchFor = (near: string) => createBoundedFetch({ near, env: {}, maxRedirects: 0 });
    const signIns = new ServerSignIns({
      ...store,
      encryption: new EncryptedValues(ring, now),
      servers: async () => [{ ...target, oauth: {}, issuerOverride: undefined }],
      clientMetadataUrl: async () => undefined,
      redirectUri,
      fetchFor: (near) => ({ fetch: fetchFor(near), post: fetchFor(near) }),
      now,
    });
    const owner = { tenant: 1, principal: "https://company.example#ada" };
    const session = { id: "browser", owner, name: "Ada" };
    const signIn = async (): Promise<void> => {
      const address = await signIns.begin(session, await signIns.prepare(owner, "notes"));
      const { address: callback } = await browser(address, { visits: false });
      await signIns.finish(session, new URL(callback).searchParams);
    };
    const reads = { count: 0 };
    const replica = (from: TeamStore = store): UserGrants => {
      const grants: GrantStore = {
        read(key) {
          reads.count += 1;
          return from.grants.read(key);
        },
        save: (key, grant) => from.grants.save(key, grant),
        refresh: (...args) => from.grants.refresh(...args),
        remove: (key) => from.grants.remove(key),
        list: (of) => from.grants.list(of),
      };
      return new UserGrants({
        grants,
        clients: from.clients,
        hints: from.hints,
        fetchFor,
        next: () => "Open the page.",
        redirectUri,
        clock: systemClock,
        now,
        random: () => 1,
      });
    };
    const grants = replica();
    await signIn();
    return {
      store,
      database,
      time,
      owner,
      target,
      signIns,
      signIn,
      grants,
      reads,
      replica,
      keeper: grants.of(owner).keeperOf(target),
      async [Symbol.asyncDispose]() {
        await grants[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  }
  const tokenOf = async (keeper: TokenKeeper) => (await keeper.current(server.url))?.tokens?.accessToken;
  const refreshes = () => issuer.callsTo("token", "refresh_token").length;

  it("is read once, and then cached", async () => {
    await using at = await scene();
    const token = await tokenOf(at.keeper);
    expect(issuer.findLiveToken(token ?? "")).toBeDefined();
    const { count } = at.reads;
    for (let call = 0; call < 20; call += 1) expect(await tokenOf(at.keeper)).toBe(token);
    expect(at.reads.count).toBe(count);
  });

  it("is used while it is refreshed ahead of its expiry", async () => {
    await using at = await scene();
    const before = refreshes();
    const old = await tokenOf(at.keeper);
    at.time.ahead = 54 * minute;
    expect(await tokenOf(at.keeper)).toBe(old);
    expect(refreshes()).toBe(before);
    at.time.ahead = 56 * minute;
    expect(await tokenOf(at.keeper)).toBe(old);
    await until(async () => (await tokenOf(at.keeper)) !== old);
    expect(refreshes()).toBe(before + 1);
  });

  it("is refreshed once for all requests that need it after its expiry", async () => {
    await using at = await scene();
    const before = refreshes();
    const old = await tokenOf(at.keeper);
    at.time.ahead = 61 * minute;
    const tokens = await Promise.all(Array.from({ length: 50 }, () => tokenOf(at.keeper)));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe(old);
    expect(refreshes()).toBe(before + 1);
  });

  it("is refreshed once if the server refuses it, and not sent again if the issuer refuses that", async () => {
    await using at = await scene();
    const before = refreshes();
    const old = await tokenOf(at.keeper);
    const renewed = await Promise.all([1, 2, 3].map(() => at.keeper.refused(server.url, old)));
    expect(new Set(renewed.map((each) => each?.tokens?.accessToken)).size).toBe(1);
    const token = renewed[0]?.tokens?.accessToken;
    expect(await tokenOf(at.keeper)).toBe(token);
    expect(refreshes()).toBe(before + 1);
    issuer.revokeGrants();
    expect(await at.keeper.refused(server.url, token)).toBeUndefined();
    expect(await at.keeper.refused(server.url, token)).toBeUndefined();
    expect(await tokenOf(at.keeper)).toBeUndefined();
    expect(refreshes()).toBe(before + 2);
    const [grant] = await at.store.grants.list(at.owner);
    expect(grant?.refusedAt).toBeDefined();
    expect(await at.grants.isSignedIn(at.owner, at.target)).toBe(false);
    await at.signIn();
    await until(() => at.grants.isSignedIn(at.owner, at.target));
    expect(issuer.findLiveToken((await tokenOf(at.keeper)) ?? "")).toBeDefined();
  });

  it("is kept if the issuer cannot answer, and refreshed after a pause", async () => {
    await using at = await scene();
    const old = await tokenOf(at.keeper);
    issuer.interrupt("token", (_, response) => response.writeHead(503).end());
    await expect(at.keeper.refused(server.url, old)).rejects.toMatchObject({ code: "unreachable" });
    const before = refreshes();
    await expect(at.keeper.refused(server.url, old)).rejects.toMatchObject({ code: "unreachable" });
    expect(refreshes()).toBe(before);
    const [grant] = await at.store.grants.list(at.owner);
    expect(grant).toMatchObject({ pauseUntil: expect.any(Number) });
    expect(grant?.refusedAt).toBeUndefined();
    expect(await tokenOf(at.keeper)).toBe(old);
  });

  it("ends on all replicas when the user disconnects, and is revoked", async () => {
    await using at = await scene();
    await using other = disposable(await openStore(at.database));
    await using second = at.replica(other);
    const keeper = second.of(at.owner).keeperOf(at.target);
    const token = (await tokenOf(keeper)) ?? "";
    expect(issuer.findLiveToken(token)).toBeDefined();
    const result = await at.signIns.disconnect(at.owner, "notes");
    expect(result).toEqual([{ server: "notes", issuer: issuer.issuer, revocation: "revoked" }]);
    await until(async () => (await tokenOf(keeper)) === undefined);
    expect(issuer.findLiveToken(token)).toBeUndefined();
    expect(await at.signIns.disconnect(at.owner, "notes")).toEqual([]);
  });

  it("is waited for by a replica that ends", async () => {
    await using at = await scene();
    const answer = deferred<void>();
    issuer.interrupt("token", after(answer.promise));
    const before = refreshes();
    at.time.ahead = 56 * minute;
    await tokenOf(at.keeper);
    await until(() => refreshes() === before + 1);
    let isEnded = false;
    const ending = at.grants[Symbol.asyncDispose]().then(() => {
      isEnded = true;
    });
    await at.store.check();
    expect(isEnded).toBe(false);
    answer.resolve();
    await ending;
    const [grant] = await at.store.grants.list(at.owner);
    expect(issuer.findLiveToken(JSON.parse(grant?.secret ?? "").tokens.accessToken)).toBeDefined();
  });

  it("is used until its expiry while PostgreSQL is away, and not refreshed", async () => {
    await using own = await PostgresServer.open();
    await using at = await scene(own);
    const old = await tokenOf(at.keeper);
    await own?.stop("immediate");
    const before = refreshes();
    at.time.ahead = 57 * minute;
    expect(await tokenOf(at.keeper)).toBe(old);
    at.time.ahead = 61 * minute;
    await expect(at.keeper.current(server.url)).rejects.toMatchObject({ code: "unreachable" });
    expect(refreshes()).toBe(before);
    await own?.start();
    await until(() => at.store.stats.isListening);
    await until(async () => (await tokenOf(at.keeper).catch(() => old)) !== old);
  });

  it("whose refresh token was spent in a lost answer is asked for once more, and then never again", async () => {
    await using at = await scene();
    const old = await tokenOf(at.keeper);
    issuer.interrupt("token", answerLost);
    await expect(at.keeper.refused(server.url, old)).rejects.toMatchObject({ code: "unreachable" });
    const before = refreshes();
    await until(async () => (await at.keeper.refused(server.url, old).catch(() => "paused")) === undefined);
    expect(refreshes()).toBe(before + 1);
    expect(await at.keeper.refused(server.url, old)).toBeUndefined();
    expect(refreshes()).toBe(before + 1);
  });
});
