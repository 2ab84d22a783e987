import { describe, expect, test } from "vitest";
import { signedIn, tokenOf, url } from "../keeper-scene.ts";
import { signInByHand } from "../sign-in-by-hand.ts";

describe("ahead of the end", () => {
  test("a token is given out as it is until shortly before its end, then a new one, saved", async () => {
    await using scene = await signedIn({ expiresIn: 3600 });
    await scene.clock.pass(3600_000 - 181_000);
    expect(tokenOf(await scene.keeper.current(url))).toBe(scene.firstToken);
    expect(scene.refreshes()).toBe(0);
    await scene.clock.pass(2_000);
    const renewed = await scene.keeper.current(url);
    expect(tokenOf(renewed)).not.toBe(scene.firstToken);
    expect(scene.refreshes()).toBe(1);
    expect(await scene.another().storage.getCredentials(url)).toEqual(renewed);
    expect(renewed).toEqual({ ...scene.first, tokens: renewed?.tokens });
  });

  test("one that lives for a minute lives for half of it", async () => {
    await using scene = await signedIn({ expiresIn: 60 });
    await scene.clock.pass(29_000);
    expect(tokenOf(await scene.keeper.current(url))).toBe(scene.firstToken);
    await scene.clock.pass(2_000);
    expect(tokenOf(await scene.keeper.current(url))).not.toBe(scene.firstToken);
  });

  test("one without a known end, or without a refresh token, is given out for ever: the server decides", async () => {
    for (const settings of [{ expiresIn: undefined }, { refreshTokens: "none" as const }]) {
      await using scene = await signedIn(settings);
      await scene.clock.pass(10 ** 9);
      expect(tokenOf(await scene.keeper.current(url))).toBe(scene.firstToken);
      expect(scene.refreshes()).toBe(0);
    }
  });

  test("eight calls on an expired token: eight get the new one, one refresh", async () => {
    await using scene = await signedIn({ expiresIn: 60 });
    await scene.clock.pass(61_000);
    const tokens = await Promise.all(Array.from({ length: 8 }, async () => tokenOf(await scene.keeper.current(url))));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe(scene.firstToken);
    expect(scene.refreshes()).toBe(1);
  });

  test("what another process has renewed is found, not renewed again", async () => {
    await using scene = await signedIn({ expiresIn: 60 });
    const other = scene.another();
    await other.keeper.current(url);
    await scene.clock.pass(61_000);
    const renewed = await scene.keeper.current(url);
    expect(await other.keeper.current(url)).toEqual(renewed);
    expect(scene.refreshes()).toBe(1);
  });

  test.each(["none", "client_secret_basic", "client_secret_post"] as const)(
    "the client proves itself as it was registered (%s), names the resource, and no more",
    async (clientAuthentication) => {
      await using scene = await signedIn({ clientAuthentication });
      await scene.keeper.refused(url, scene.firstToken);
      const [call] = scene.server.callsTo("token", "refresh_token");
      const { clientId, clientSecret } = scene.first.client;
      const isBasic = clientAuthentication === "client_secret_basic";
      expect(call?.request.headers.authorization).toBe(
        isBasic ? `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` : undefined,
      );
      expect(Object.fromEntries(call?.params ?? [])).toEqual({
        grant_type: "refresh_token",
        refresh_token: scene.first.tokens?.refreshToken,
        resource: url,
        ...(!isBasic && { client_id: clientId }),
        ...(clientAuthentication === "client_secret_post" && { client_secret: clientSecret }),
      });
    },
  );

  test("a refresh token that is not replaced stays", async () => {
    await using scene = await signedIn({ refreshTokens: "lasting" });
    const renewed = await scene.keeper.refused(url, scene.firstToken);
    expect(renewed?.tokens?.refreshToken).toBe(scene.first.tokens?.refreshToken);
    expect(tokenOf(await scene.keeper.refused(url, tokenOf(renewed)))).not.toBe(tokenOf(renewed));
  });
});

describe("a token that was refused", () => {
  test("is replaced, whatever the clock says; eight at once cost one refresh", async () => {
    await using scene = await signedIn();
    const all = await Promise.all(Array.from({ length: 8 }, () => scene.keeper.refused(url, scene.firstToken)));
    expect(new Set(all.map(tokenOf)).size).toBe(1);
    expect(scene.server.findLiveToken(tokenOf(all[0]) ?? "")).toBeDefined();
    expect(scene.refreshes()).toBe(1);
    expect(tokenOf(await scene.keeper.refused(url, scene.firstToken))).toBe(tokenOf(all[0]));
    expect(scene.refreshes()).toBe(1);
  });

  test("after a sign-in in another terminal, the token of that one is taken", async () => {
    await using scene = await signedIn({ refreshTokens: "none" });
    expect(await scene.keeper.refused(url, scene.firstToken)).toBeUndefined();
    const second = await signInByHand(scene.server, url);
    await scene.another().storage.saveCredentials(second);
    expect(await scene.keeper.refused(url, scene.firstToken)).toEqual(second);
    expect(await scene.keeper.current(url)).toEqual(second);
    // A token that cannot be renewed is still returned after its end: the server decides.
    await scene.clock.pass(10 ** 9);
    expect(await scene.keeper.refused(url, scene.firstToken)).toEqual(second);
    expect(scene.refreshes()).toBe(0);
  });

  test("one that was not there at all: the user has not signed in, until a sign-in stores one", async () => {
    await using scene = await signedIn();
    await scene.storage.deleteCredentials(url);
    expect([await scene.keeper.current(url), await scene.keeper.refused(url, undefined)]).toEqual([
      undefined,
      undefined,
    ]);
    await scene.another().storage.saveCredentials(scene.first);
    expect(await scene.keeper.refused(url, undefined)).toEqual(scene.first);
  });

  test("no token goes to another address, however alike", async () => {
    await using scene = await signedIn();
    for (const other of [
      "http://127.0.0.1:9/mcp/",
      "http://127.0.0.1:9/",
      "https://127.0.0.1:9/mcp",
      "http://127.0.0.1:9/mcp?a",
    ]) {
      expect([await scene.keeper.current(other), await scene.keeper.refused(other, undefined)]).toEqual([
        undefined,
        undefined,
      ]);
    }
    expect(await scene.keeper.current("HTTP://127.0.0.1:9/mcp#part")).toEqual(scene.first);
  });
});
