/** The company's identity provider in tests: `oidc-provider` in a process of its own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import type { IssuerSettings } from "../../../src/auth/auth-settings.ts";

export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly settings: IssuerSettings;
  /** Signs an access token, as the provider would. */
  sign(claims: JWTPayload): Promise<string>;
}

export async function identityProvider(gateway: string): Promise<IdentityProvider> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "k1", alg: "ES256" };
  const options = { port: await freePort(), redirectUri: `${gateway}/oauth/login`, key };
  const program = fileURLToPath(new URL("../../programs/identity-provider.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => undefined);
  const lines = createInterface(child.stdout);
  const [issuer] = (await once(lines, "line")) as [string];
  return {
    issuer,
    settings: {
      issuer,
      groupsClaim: "groups",
      groupsOf: new Map(),
      checksScopes: false,
      userClaim: "sub",
      browser: {
        clientId: "fairlead-browser",
        clientSecret: "the secret of the browser client",
        scopes: ["profile"],
      },
      tenant: 1,
    },
    sign: (claims) =>
      new SignJWT({ iss: issuer, ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "k1" })
        .setIssuedAt()
        .setExpirationTime("10 minutes")
        .sign(privateKey),
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      lines.close();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
