import { EventEmitter, once } from "node:events";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { both } from "./both-servers.ts";
import { asked, person } from "./person.ts";
import { hostFor, stateOf } from "./signed-in-host.ts";

test("a server that wants a sign-in is connected and discovered when the person has signed in", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const someone = person();
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ name: "docs", status: "connected" });
  expect(host.tools("docs").map(({ serverToolName }) => serverToolName)).toEqual(["echo"]);
  expect(servers.authorization.seen.map(({ endpoint }) => endpoint)).toEqual([
    "metadata",
    "registration",
    "authorize",
    "authorize",
    "token",
  ]);
});

test("without a way to ask the user it needs a sign-in, and says what to type", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  await using host = await hostFor(folder, servers.guarded.url);
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toEqual({
    name: "docs",
    status: "needs_auth",
    reason: "auth_required",
    message: '"docs" requires sign-in (HTTP 401)',
    next: "fairlead mcp auth docs",
  });
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({
    code: "auth_required",
    next: "fairlead mcp auth docs",
  });
  expect(servers.authorization.seen).toEqual([]);
});

test("the next run finds the token, and does not ask the user", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  {
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    await host.start({ servers: ["docs"] });
  }
  const before = servers.guarded.seen.length;
  await using host = await hostFor(folder, servers.guarded.url);
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ status: "connected" });
  // Known from the start, so no request is made in vain.
  expect(servers.guarded.seen.slice(before).every(({ headers }) => headers.authorization !== undefined)).toBe(true);
});

test("a server with another address never sees the old token", async () => {
  await using servers = await both();
  await using others = await both();
  await using folder = await temporaryFolder();
  {
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    await host.start({ servers: ["docs"] });
  }
  await using host = await hostFor(folder, others.guarded.url);
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ status: "needs_auth" });
  expect(others.guarded.seen.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([]);
});

test("a call that needs more is made when the person has allowed that too, and loses nothing of before", async () => {
  await using servers = await both({}, { scopes: ["read"], toolScopes: { echo: ["write"] } });
  await using folder = await temporaryFolder();
  const someone = person();
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  expect(await host.call("docs", "echo", { text: "hi" })).toMatchObject({ isError: false });
  expect(someone.opened.map((url) => new URL(url).searchParams.get("scope"))).toEqual(["read", "read write"]);
});

test("without a way to ask the user, a call that needs more says for what to sign in", async () => {
  await using servers = await both({}, { scopes: ["read"], toolScopes: { echo: ["write"] } });
  await using folder = await temporaryFolder();
  {
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    await host.start({ servers: ["docs"] });
  }
  await using host = await hostFor(folder, servers.guarded.url);
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({
    code: "auth_required",
    message: 'docs.echo: "docs" needs more scopes: read write',
    next: "fairlead mcp auth docs --scopes 'read write'",
  });
});

test("a scope that is never granted is asked for once, not for ever", async () => {
  await using servers = await both(
    { grants: (scopes) => scopes.filter((scope) => scope !== "write") },
    { scopes: ["read"], toolScopes: { echo: ["write"] } },
  );
  await using folder = await temporaryFolder();
  const someone = person();
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  await expect(host.call("docs", "echo", { text: "hi" })).rejects.toMatchObject({ code: "auth_failed" });
  expect(someone.opened.length).toBe(2);
  expect(someone.shown).toContainEqual({ kind: "scopes_differ", requested: ["read", "write"], granted: ["read"] });
});

test("a server that wants another scope each time is given up after two", async () => {
  await using servers = await both({ scopes: ["a", "b", "c", "d", "e"] }, { scopes: ["a"] });
  await using folder = await temporaryFolder();
  const someone = person({
    onOpen() {
      const { settings } = servers.guarded;
      settings.scopes = ["a", "b", "c", "d", "e"].slice(0, settings.scopes.length + 1);
    },
  });
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ status: "disconnected", reason: "auth_failed" });
  expect(someone.opened.map((url) => new URL(url).searchParams.get("scope"))).toEqual(["a", "a b", "a b c"]);
});

test("a server that moves to another authorization server gets a client and a token of that one", async () => {
  await using servers = await both();
  await using others = await both();
  await using folder = await temporaryFolder();
  const someone = person();
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  await host.start({ servers: ["docs"] });
  const client = asked(someone, "client_id");
  servers.guarded.settings.authorization = others.authorization;
  expect(await host.call("docs", "echo", { text: "hi" })).toMatchObject({ isError: false });
  expect(new URL(someone.opened.at(-1) ?? "").origin).toBe(others.authorization.origin);
  expect(others.authorization.callsTo("registration").length).toBe(1);
  const told = others.authorization.requests.map(({ path, body }) => `${path} ${body}`).join("\n");
  expect(told).not.toContain(client);
});

test("an entry with its own token keeps it, and the user is not asked to sign in", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const someone = person();
  const entry = { headers: { Authorization: "Bearer of-my-own" } };
  await using host = await hostFor(folder, servers.guarded.url, { entry }, { signIn: someone.ui });
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({
    status: "needs_auth",
    message: '"docs" requires sign-in (HTTP 401) and rejected the configured headers: Authorization',
  });
  expect(someone.opened).toEqual([]);
});

test("a program that embeds the host needs to give no more than a way to open an address", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { openBrowser } = person().ui;
  await using host = await hostFor(folder, servers.guarded.url, {}, openBrowser ? { openBrowser } : {});
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ status: "connected" });
});

test("a host that is closed in the middle of a sign-in leaves nothing listening, and nothing stored", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const thinking = new EventEmitter();
  const someone = person({
    ui: {
      consent(request) {
        thinking.emit("asked", new URL(request.url).searchParams.get("redirect_uri"));
        return new Promise(() => {});
      },
    },
  });
  const host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  const question = once(thinking, "asked");
  const started = host.start({ servers: ["docs"] });
  const redirectUri = String((await question)[0]);
  expect((await fetch(redirectUri)).status).toBe(400);
  await host[Symbol.asyncDispose]();
  await started;
  await expect(fetch(redirectUri)).rejects.toThrow("fetch failed");
  expect(stateOf(host)).toEqual({ name: "docs", status: "disconnected", reason: "lazy" });
});

test("a call that is cancelled while the person thinks ends at once", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const stop = new AbortController();
  const someone = person({
    ui: {
      consent: () => {
        setImmediate(() => stop.abort());
        return new Promise(() => {});
      },
    },
  });
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  await expect(host.call("docs", "echo", { text: "hi" }, { signal: stop.signal })).rejects.toMatchObject({
    code: "cancelled",
  });
});
