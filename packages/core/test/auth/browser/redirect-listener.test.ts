import { createServer } from "node:net";
import { expect, test } from "vitest";
import { openRedirectListener, type RedirectListener } from "../../../src/auth/browser/callback-server.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import type { StoredClient } from "../../../src/auth/store/credentials.ts";
import type { OAuthSettings } from "../../../src/settings/define/definition.ts";
import { freePort } from "../free-port.ts";

const state = "the-state";

interface Opening {
  readonly oauth?: OAuthSettings;
  readonly client?: StoredClient;
  readonly ui?: { readonly callbackPort: number };
}

function opening({ oauth = {}, client, ui }: Opening = {}) {
  return openRedirectListener(oauth, client, ui?.callbackPort, state, createFail("docs"));
}

/** The listener that these options open, closed again. */
async function opened(
  options: Parameters<typeof opening>[0],
): Promise<Pick<RedirectListener, "redirectUri" | "answer">> {
  const listener = await opening(options);
  await listener.close();
  return listener;
}

/** A port on which another program listens meanwhile. */
async function taken(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test("a client that is not registered yet gets a path that an attacker cannot guess", async () => {
  const [one, other] = [await opened({}), await opened({})];
  expect(one.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/);
  expect(new URL(one.redirectUri).pathname).not.toBe(new URL(other.redirectUri).pathname);
});

test("one that is known there already gets the path that was told beforehand", async () => {
  expect((await opened({ client: { clientId: "c" } })).redirectUri).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/,
  );
});

test("its port is the one that is wanted, so that a whole redirect URI can be registered", async () => {
  const port = await freePort();
  const { redirectUri } = await opened({ client: { clientId: "c" }, ui: { callbackPort: port } });
  expect(redirectUri).toBe(`http://127.0.0.1:${port}/oauth/callback`);
});

test("where we were sent listener before, we listen again", async () => {
  const redirectUri = `http://127.0.0.1:${await freePort()}/before`;
  expect((await opened({ client: { clientId: "c", redirectUri } })).redirectUri).toBe(redirectUri);
});

test("unless another program listens there now, or another port is wanted", async () => {
  await using other = await taken();
  const client = { clientId: "c", redirectUri: `http://127.0.0.1:${other.port}/before` };
  const elsewhere = await opened({ client });
  expect(new URL(elsewhere.redirectUri).port).not.toBe(String(other.port));
  expect(new URL(elsewhere.redirectUri).pathname).toMatch(/^\/[\w-]{43}$/);
  const port = await freePort();
  const asked = await opened({
    client: { clientId: "c", redirectUri: "http://127.0.0.1:7/before" },
    ui: { callbackPort: port },
  });
  expect(asked.redirectUri).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/[\\w-]{43}$`));
});

test("at an address of another machine Fairlead does not listen, unless a port is named that it leads to", async () => {
  const redirectUri = "https://app.example/cb";
  const listener = await opened({ oauth: { redirectUri } });
  expect([listener.redirectUri, listener.answer]).toEqual([redirectUri, undefined]);
  const forwarded = await opened({
    oauth: { redirectUri },
    ui: { callbackPort: await freePort() },
  });
  expect(forwarded.redirectUri).toBe(redirectUri);
  expect(forwarded.answer).toBeInstanceOf(Promise);
});

test("an address of this machine is listened to as it is written", async () => {
  const { redirectUri, answer } = await opened({ oauth: { redirectUri: "http://localhost/cb" } });
  expect(redirectUri).toMatch(/^http:\/\/localhost:\d+\/cb$/);
  expect(answer).toBeInstanceOf(Promise);
});

test("what is no address is refused by its name", async () => {
  await expect(opening({ oauth: { redirectUri: "nonsense" } })).rejects.toMatchObject({
    code: "auth_failed",
    message: 'sign-in to "docs" failed at the redirect listener step: "redirectUri" is not a URL: nonsense',
  });
});

test("a port that is taken is named, with what to set: of the settings, and of the address", async () => {
  await using other = await taken();
  const { port } = other;
  const next = "Stop that program, or set OAUTH_CALLBACK_PORT to a free port that the registered redirect URI allows.";
  const message = `sign-in to "docs" failed at the redirect listener step: another program uses port ${port}`;
  await expect(opening({ ui: { callbackPort: port } })).rejects.toMatchObject({ message, next });
  const redirectUri = `http://127.0.0.1:${port}/cb`;
  await expect(opening({ oauth: { redirectUri } })).rejects.toMatchObject({ message, next });
});
