import {
  type AuthorizationServer,
  after,
  answerLost,
  type Fault,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createRefreshPauses } from "../../../src/auth/oauth/refresh-pauses.ts";
import { HostError } from "../../../src/errors.ts";
import { signedIn, tokenOf, url } from "../keeper-scene.ts";
import { signInByHand } from "../sign-in-by-hand.ts";

describe("a refresh that fails for now keeps everything", () => {
  const fails =
    (status: number, body: string): Fault =>
    (_request, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    };
  test.each<[what: string, fault: Fault, code: HostError["code"], says: RegExp]>([
    ["503", fails(503, "busy"), "http_status", /token refresh for "docs" failed: http:.* answered HTTP 503$/],
    ["429", fails(429, "{}"), "http_status", /answered HTTP 429$/],
    ["a hang-up", (_request, response) => response.destroy(), "unreachable", /cannot be reached/],
    ["an answer that is lost", answerLost, "unreachable", /cannot be reached/],
    ["a page", fails(200, "<html>"), "auth_failed", /the response is not a JSON object$/],
    ["404", fails(404, "nothing here"), "auth_failed", /answered HTTP 404$/],
    ["no token", fails(200, '{"token_type":"Bearer"}'), "auth_failed", /the response has no access_token$/],
    [
      "a token of another kind",
      fails(200, '{"access_token":"a","token_type":"DPoP"}'),
      "auth_failed",
      /the token_type is "DPoP"; it must be Bearer$/,
    ],
    [
      "an error that decides nothing",
      fails(400, '{"error":"invalid_request"}'),
      "auth_failed",
      /it answered invalid_request$/,
    ],
    [
      "a redirect",
      (_request, response) => response.writeHead(307, { location: "/elsewhere" }).end(),
      "unreachable",
      /cannot be reached/,
    ],
  ])("%s", async (_, fault, code, says) => {
    await using scene = await signedIn({ expiresIn: 60, refreshTokens: "lasting" });
    scene.server.interrupt("token", fault);
    await scene.clock.pass(61_000);
    const error = await scene.keeper.refused(url, scene.firstToken).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, serverName: "docs", message: expect.stringMatching(says) });
    expect(scene.server.requests.filter(({ path }) => path === "/elsewhere")).toEqual([]);
    expect(await scene.another().storage.getCredentials(url)).toEqual(scene.first);
    // Not asked again at once; a caller that needs a token gets the stored one.
    expect(await scene.keeper.refused(url, scene.firstToken).catch((reason: unknown) => reason)).toBe(error);
    expect(await scene.keeper.current(url)).toEqual(scene.first);
    expect(scene.refreshes()).toBe(1);
    await scene.clock.pass(1_000);
    expect(tokenOf(await scene.keeper.current(url))).not.toBe(scene.firstToken);
  });

  test("the pauses grow, up to a minute", async () => {
    await using scene = await signedIn({ refreshTokens: "lasting" });
    scene.server.interrupt("token", fails(500, ""), 9);
    const asked: number[] = [];
    for (let second = 0; second < 240; second += 1) {
      const before = scene.refreshes();
      await scene.keeper.refused(url, scene.firstToken).catch(() => undefined);
      if (scene.refreshes() > before) asked.push(second);
      await scene.clock.pass(1_000);
    }
    expect(asked.map((second, index) => second - (asked[index - 1] ?? 0))).toEqual([0, 1, 2, 3, 6, 12, 24, 45, 45, 45]);
  });

  test("an explanation that quotes the token is told without it", async () => {
    await using scene = await signedIn();
    const secret = scene.first.tokens?.refreshToken ?? "";
    scene.server.interrupt(
      "token",
      fails(400, JSON.stringify({ error: "invalid_request", error_description: `what is ${secret}?` })),
    );
    const error = await scene.keeper.refused(url, scene.firstToken).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "auth_failed", evidence: "what is (hidden)?" });
  });
});

describe("a refresh that is refused for good", () => {
  test("needs a person; the access token is kept for as long as it works, and nothing is asked twice", async () => {
    await using scene = await signedIn({ expiresIn: 60 });
    scene.server.revokeGrants();
    await scene.clock.pass(31_000);
    const { refreshToken: _, ...tokens } = scene.first.tokens ?? { accessToken: "" };
    expect(await scene.keeper.current(url)).toEqual({ ...scene.first, tokens });
    expect(await scene.keeper.refused(url, scene.firstToken)).toBeUndefined();
    expect(await scene.another().keeper.refused(url, scene.firstToken)).toBeUndefined();
    expect(scene.refreshes()).toBe(1);
  });

  test("a client that is not known any more: its registration is void from now on", async () => {
    await using scene = await signedIn();
    scene.server.forgetClients();
    expect(await scene.keeper.refused(url, scene.firstToken)).toBeUndefined();
    const stored = await scene.storage.getCredentials(url);
    expect(stored?.client).toEqual({ ...scene.first.client, expiresAt: expect.any(Number) });
    expect(stored?.client.expiresAt).toBeLessThanOrEqual(Date.now());
    expect(tokenOf(stored)).toBe(scene.firstToken);
  });

  /** Whatever is asked of the token endpoint next is answered once this is done. */
  function interruptWith(server: AuthorizationServer, work: () => Promise<unknown>, answer?: string): void {
    server.interrupt("token", (request, response, usual) => {
      const done = work();
      if (answer === undefined) after(done)(request, response, usual);
      else void done.then(() => response.writeHead(400).end(answer));
    });
  }

  test.each([
    ["renewed", undefined],
    ["used up", '{"error":"invalid_grant"}'],
    ["unknown", '{"error":"invalid_client"}'],
  ])("meanwhile another process signed in: its token stays, though ours was %s", async (_, answer) => {
    await using scene = await signedIn();
    const second = await signInByHand(scene.server, url);
    interruptWith(scene.server, () => scene.another().storage.saveCredentials(second), answer);
    expect(await scene.keeper.refused(url, scene.firstToken)).toEqual(second);
    expect(scene.refreshes()).toBe(1);
    expect(await scene.storage.getCredentials(url)).toEqual(second);
  });

  test("meanwhile another process signed out: the user stays signed out", async () => {
    await using scene = await signedIn();
    interruptWith(scene.server, () => scene.another().storage.deleteCredentials(url));
    expect(await scene.keeper.refused(url, scene.firstToken)).toBeUndefined();
    expect(scene.refreshes()).toBe(1);
    expect(await scene.storage.getCredentials(url)).toBeUndefined();
  });
});

test("what could not be saved is not used, and not lost: it is saved at the next try, without another refresh", async () => {
  await using scene = await signedIn();
  const save = scene.storage.saveCredentials.bind(scene.storage);
  let isFull = true;
  scene.storage.saveCredentials = (credentials) =>
    isFull ? Promise.reject(new Error("the disk is full")) : save(credentials);
  await expect(scene.keeper.refused(url, scene.firstToken)).rejects.toThrow("the disk is full");
  expect(await scene.keeper.current(url)).toEqual(scene.first);
  await expect(scene.keeper.refused(url, scene.firstToken)).rejects.toThrow("the disk is full");
  isFull = false;
  const renewed = await scene.keeper.refused(url, scene.firstToken);
  expect(scene.server.findLiveToken(tokenOf(renewed) ?? "")).toBeDefined();
  expect(await scene.another().storage.getCredentials(url)).toEqual(renewed);
  expect(scene.refreshes()).toBe(1);
});

test("a refusal that could not be saved is no new token: the next try asks again", async () => {
  await using scene = await signedIn();
  scene.server.revokeGrants();
  const save = scene.storage.saveCredentials.bind(scene.storage);
  scene.storage.saveCredentials = () => Promise.reject(new Error("the disk is full"));
  await expect(scene.keeper.refused(url, scene.firstToken)).rejects.toThrow("the disk is full");
  scene.storage.saveCredentials = save;
  expect(await scene.keeper.refused(url, scene.firstToken)).toBeUndefined();
  expect(scene.refreshes()).toBe(2);
});

describe("an authorization server that does not answer", () => {
  test("delays no request whose token is still valid; what it says in the end is used", async () => {
    await using scene = await signedIn({ expiresIn: 60 });
    let say = (): void => {};
    const answer = new Promise<void>((resolve) => {
      say = resolve;
    });
    scene.server.interrupt("token", after(answer));
    await scene.clock.pass(31_000);
    const waiting = scene.keeper.current(url);
    await until(() => scene.refreshes() === 1);
    // Another process finds that a refresh is running.
    expect(await scene.another().keeper.current(url)).toEqual(scene.first);
    await scene.clock.pass(2_000);
    expect(await waiting).toEqual(scene.first);
    say();
    await until(() => tokenOf(scene.storage.lastKnown(url)) !== scene.firstToken);
    expect(scene.server.findLiveToken(tokenOf(await scene.keeper.current(url)) ?? "")).toBeDefined();
    expect(scene.refreshes()).toBe(1);
  });

  test("is not asked by other processes either, for a while", async () => {
    await using scene = await signedIn({ refreshTokens: "lasting" });
    scene.server.interrupt("token", (_request, response) => void response.writeHead(503).end());
    const failure = async ({ keeper }: Pick<typeof scene, "keeper">): Promise<unknown> =>
      keeper.refused(url, scene.firstToken).catch((error: unknown) => error);
    const first = await failure(scene);
    const { code, message, serverName, next } = first as HostError;
    expect(await failure(scene.another())).toMatchObject({ code, message, serverName, next });
    expect(scene.refreshes()).toBe(1);
    await scene.clock.pass(1_000);
    expect(tokenOf(await scene.another().keeper.refused(url, scene.firstToken))).toBeDefined();
    expect(scene.refreshes()).toBe(2);
  });

  test("is left alone for as long as it took to find that out", async () => {
    await using folder = await temporaryFolder();
    let now = 0;
    const pauses = createRefreshPauses(
      folder.path,
      () => now,
      () => 0.5,
    );
    const error = new HostError("unreachable", "no answer", { serverName: "docs" });
    await pauses.begin("one", error, 10_000);
    now = 9_999;
    const others = createRefreshPauses(
      folder.path,
      () => now,
      () => 0.5,
    );
    expect([await pauses.errorOf("one"), await pauses.errorOf("two")]).toEqual([error, undefined]);
    expect(await others.errorOf("one")).toMatchObject({ code: "unreachable", message: "no answer" });
    now = 10_000;
    expect([await pauses.errorOf("one"), await others.errorOf("one")]).toEqual([undefined, undefined]);
    await folder.write("one.failed.json", { until: 50_000, tries: 1, code: "internal", message: "x" });
    expect(await others.errorOf("one")).toBeUndefined();
  });
});
