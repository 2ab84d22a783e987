/** Signs in at a test's authorization server with nothing but requests, for tests of what comes afterwards. */

import { createHash, randomBytes } from "node:crypto";
import { type AuthorizationServer, browser } from "@fairlead/test-servers";
import { readTokenAnswer } from "../../src/auth/oauth/token-request.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";

const redirectUri = "http://127.0.0.1:1/callback";

export async function signInByHand(server: AuthorizationServer, serverUrl: string): Promise<Credentials> {
  const answer = await fetch(`${server.issuer}/register`, {
    method: "POST",
    body: JSON.stringify({
      redirect_uris: [redirectUri],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
    }),
  });
  const registration = (await answer.json()) as { client_id: string; client_secret?: string };
  const { client_id: clientId, client_secret: clientSecret } = registration;
  const verifier = randomBytes(32).toString("base64url");
  const question = new URL(`${server.issuer}/authorize`);
  question.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: serverUrl,
    scope: "read",
  }).toString();
  const { address } = await browser(question, { visits: false });
  const response = await fetch(`${server.issuer}/token`, {
    method: "POST",
    headers: clientSecret === undefined ? {} : proof(server, clientId, clientSecret),
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: new URL(address).searchParams.get("code") ?? "",
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource: serverUrl,
      ...(server.settings.clientAuthentication !== "client_secret_basic" && { client_id: clientId }),
      ...(server.settings.clientAuthentication === "client_secret_post" && { client_secret: clientSecret ?? "" }),
    }),
  });
  const tokens = await readTokenAnswer(response, { askedAt: Date.now(), tokenType: "Bearer" });
  if (tokens.kind !== "tokens") throw new Error(`no tokens but ${JSON.stringify(tokens)}`);
  return {
    serverName: "docs",
    serverUrl,
    resource: serverUrl,
    issuer: server.issuer,
    client: { clientId, registration, ...(clientSecret !== undefined && { clientSecret }) },
    endpoints: { token: `${server.issuer}/token`, revocation: `${server.issuer}/revoke` },
    tokens: tokens.tokens,
    scopes: ["read"],
  };
}

function proof({ settings }: AuthorizationServer, id: string, secret: string): Record<string, string> {
  if (settings.clientAuthentication !== "client_secret_basic") return {};
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
}
