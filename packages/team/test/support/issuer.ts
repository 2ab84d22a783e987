/** A real issuer of access tokens over HTTP: metadata, keys, and a way to sign anything. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export interface TestIssuer extends AsyncDisposable {
  readonly url: string;
  /** How often the keys were requested. */
  readonly keyRequests: () => number;
  /** Signs with the newest key, valid for ten minutes from `now`. */
  sign(claims: JWTPayload, header?: { readonly typ?: string; readonly kid?: string }): Promise<string>;
  /** Replaces the key by a new one. */
  rotate(): Promise<void>;
  /** While true, every request is answered with status 503. */
  setAway(isAway: boolean): void;
}

export async function startIssuer({ now = Date.now }: { readonly now?: () => number } = {}): Promise<TestIssuer> {
  let count = 0;
  let requests = 0;
  let isAway = false;
  let pair = await generateKeyPair("ES256", { extractable: true });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (isAway) {
      response.writeHead(503).end();
      return;
    }
    response.setHeader("content-type", "application/json");
    if (request.url === "/keys") {
      requests += 1;
      const key = { ...(await exportJWK(pair.publicKey)), kid: `k${count}`, alg: "ES256", use: "sig" };
      response.end(JSON.stringify({ keys: [key] }));
    } else if (request.url === "/.well-known/openid-configuration") {
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
    } else response.writeHead(404).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    keyRequests: () => requests,
    sign(claims, { typ = "at+jwt", kid = `k${count}` } = {}) {
      const at = Math.floor(now() / 1000);
      return new SignJWT({ iss: url, iat: at, exp: at + 600, ...claims })
        .setProtectedHeader({ alg: "ES256", typ, kid })
        .sign(pair.privateKey);
    },
    async rotate() {
      count += 1;
      pair = await generateKeyPair("ES256", { extractable: true });
    },
    setAway(away) {
      isAway = away;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
