import { authorizationServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { revokeTokens } from "../../../src/auth/oauth/endpoint-request.ts";
import { createBoundedFetch } from "../../../src/net/bounded-fetch.ts";
import { signInByHand } from "../sign-in-by-hand.ts";

const url = "http://127.0.0.1:9/mcp";
const fetchNear = createBoundedFetch({ near: url, env: {}, maxRedirects: 0 });

test.each(["none", "client_secret_basic", "client_secret_post"] as const)(
  "both tokens end at the authorization server, told by the client that got them (%s)",
  async (clientAuthentication) => {
    await using server = await authorizationServer({ clientAuthentication });
    const credentials = await signInByHand(server, url);
    expect(server.findLiveToken(credentials.tokens?.accessToken ?? "")).toBeDefined();
    expect(await revokeTokens(credentials, fetchNear)).toBe("revoked");
    expect(server.findLiveToken(credentials.tokens?.accessToken ?? "")).toBeUndefined();
    expect(server.callsTo("revoke").map(({ params }) => [params.get("token"), params.get("token_type_hint")])).toEqual([
      [credentials.tokens?.refreshToken, "refresh_token"],
      [credentials.tokens?.accessToken, "access_token"],
    ]);
  },
);

test("without a place to do it, or without tokens, nothing is asked", async () => {
  await using server = await authorizationServer();
  const { tokens: _, ...registered } = await signInByHand(server, url);
  const { revocation: _none, ...endpoints } = registered.endpoints;
  expect(await revokeTokens(registered, fetchNear)).toBe("unsupported");
  expect(await revokeTokens({ ...(await signInByHand(server, url)), endpoints }, fetchNear)).toBe("unsupported");
  expect(server.callsTo("revoke")).toEqual([]);
});

test("a server that fails is told of, not thrown", async () => {
  await using server = await authorizationServer();
  const credentials = await signInByHand(server, url);
  server.interrupt("revoke", (_request, response) => response.destroy());
  expect(await revokeTokens(credentials, fetchNear)).toBe("failed");
});
