import { generateKeyPairSync } from "node:crypto";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { authorizationServer, guardedServer, newIdToken } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findingsOf } from "../../support/findings.ts";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
const env = { FAIRLEAD_SECRET_STORE: "file" };
const clients = [{ clientId: "machine", publicKey: key.publicKey }];

let authorization: Awaited<ReturnType<typeof authorizationServer>>;
let guarded: Awaited<ReturnType<typeof guardedServer>>;
beforeAll(async () => {
  authorization = await authorizationServer({ clients });
  guarded = await guardedServer({ authorization, scopes: ["read"] });
});
afterAll(async () => {
  await guarded[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

const machineAuth = { kind: "client_credentials", clientId: "machine", privateKeyFile: "~/key.pem" };

async function scene(settings: object = machineAuth): Promise<Machine> {
  const here = await machine({
    [userFile]: {
      mcpServers: { docs: { httpUrl: guarded.url } },
      fairlead: { servers: { docs: { machineAuth: settings } } },
    },
    "home/key.pem": String(key.privateKey.export({ format: "pem", type: "pkcs8" })),
  });
  await chmod(join(here.home, "key.pem"), 0o600);
  return here;
}

test("mcp test shows each step of the token request, and no token", async () => {
  await using here = await scene();
  const { code, stdout } = await here.runWith({ env }, "mcp", "test", "docs");
  expect(code).toBe(0);
  expect(stdout).toContain(`discovery: authorization server ${authorization.issuer}, for ${guarded.url}`);
  expect(stdout).toMatch(
    /token request: http\S+\/token with private_key_jwt: Bearer token, valid for 60 min, scopes read/,
  );
  const { stdout: json } = await here.runWith({ env }, "mcp", "test", "docs", "--json");
  for (const secret of authorization.secrets) expect(stdout + json).not.toContain(secret);
  // The second process uses the stored token.
  expect((JSON.parse(json) as { steps: readonly { step: string }[] }).steps.map(({ step }) => step)).not.toContain(
    "machine",
  );
});

test("mcp auth says that no person is needed", async () => {
  await using here = await scene();
  expect(await here.runWith({ env }, "mcp", "auth", "docs")).toMatchObject({
    code: 2,
    stderr:
      'fairlead: "docs" needs no sign-in: Fairlead gets its tokens with machineAuth (client_credentials)\n  next: fairlead mcp test docs\n',
  });
  const { stdout } = await here.runWith({ env }, "mcp", "auth");
  expect(stdout).toBe("docs  automatic, with the credentials under machineAuth\n");
});

test("settings validate names what is missing", async () => {
  await using here = await scene({ kind: "jwt_bearer" });
  const { code, stdout, stderr } = await here.runWith({ env }, "settings", "validate");
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain(
    '"machineAuth" (jwt_bearer) is incomplete: it lacks "assertionFile", "assertionEnv" or "assertionFrom"',
  );
});

test("doctor checks key files and the expiry of assertions", async () => {
  await using here = await scene();
  const fine = await here.runWith({ env }, "doctor", "--json");
  expect(findingsOf(fine)).toContainEqual(
    expect.objectContaining({ severity: "ok", message: `${here.home}/key.pem is usable (ES256)` }),
  );
  await chmod(join(here.home, "key.pem"), 0o644);
  const open = await here.runWith({ env }, "doctor", "--json");
  expect(findingsOf(open)).toContainEqual(
    expect.objectContaining({
      severity: "warning",
      message: `other users can read ${here.home}/key.pem, the private key of "docs"`,
      next: `chmod 600 ${here.home}/key.pem`,
    }),
  );
});

test("doctor names a key that is none, and an assertion that has expired", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: { a: { httpUrl: "http://127.0.0.1:9/a" }, b: { httpUrl: "http://127.0.0.1:9/b" } },
      fairlead: {
        servers: {
          a: { machineAuth },
          b: { machineAuth: { kind: "jwt_bearer", assertionEnv: "TOKEN" } },
        },
      },
    },
    "home/key.pem": String(key.publicKey.export({ format: "pem", type: "spki" })),
  });
  const jwt = newIdToken({ exp: 1_600_000_000 });
  const { stdout } = await here.runWith({ env: { ...env, TOKEN: jwt } }, "doctor", "--json");
  expect(stdout).not.toContain(jwt);
  const messages = findingsOf({ stdout }).map(({ message }) => message);
  expect(messages).toContain(`private key of "a" cannot be used: ${here.home}/key.pem: the key is a public key`);
  expect(messages).toContain('the JWT of "b" in the variable TOKEN expired at 2020-09-13T12:26:40.000Z');
});

test("the approval of a workspace's entry names the credentials that it gets, and who gets them", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { docs: { httpUrl: guarded.url } } },
    [userFile]: {
      fairlead: { servers: { docs: { machineAuth: { ...machineAuth, issuer: authorization.issuer } } } },
    },
  });
  const { stderr } = await here.runWith({ env }, "trust", "add");
  expect(stderr).toMatch(
    /machineAuth {2}your settings \(.*settings\.json:.*\) let this server use this machine's credentials/,
  );
  expect(stderr).toContain(`privateKeyFile: ${here.home}/key.pem`);
  expect(stderr).toContain(`sent to ${authorization.issuer}`);
});
