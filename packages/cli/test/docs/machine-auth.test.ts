import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  type AuthorizationServer,
  authorizationServer,
  type GuardedServer,
  guardedServer,
  newIdToken,
  signersKey,
} from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { literally, readPage, shellWords, stepsOf } from "../support/page.ts";

const page = readPage("machine-auth.md");
const blocks = [...page.matchAll(/## (.*)\n\n(?:[^#]*?)```json\n([\s\S]*?)```/g)];
const allSettings = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) => json);
const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
const platform = "https://platform.example.com";
const secrets = { TOOLS_SECRET: "canary-1", IDP_SECRET: "canary-2" };

let idp: AuthorizationServer;
let authorization: AuthorizationServer;
let guarded: GuardedServer;

beforeAll(async () => {
  idp = await authorizationServer({ clients: [{ clientId: "app", clientSecret: secrets.IDP_SECRET }] });
  authorization = await authorizationServer({
    clients: [
      { clientId: "fairlead-ci", clientSecret: secrets.TOOLS_SECRET },
      { clientId: "app-there", clientSecret: secrets.TOOLS_SECRET },
      { clientId: "fairlead-key", publicKey: key.publicKey },
    ],
    trustedIssuers: [
      { issuer: platform, publicKey: key.publicKey },
      { issuer: idp.issuer, publicKey: signersKey },
    ],
  });
  guarded = await guardedServer({ authorization, scopes: ["read"] });
});
afterAll(async () => {
  for (const server of [guarded, authorization, idp]) await server[Symbol.asyncDispose]();
});

const env = { FAIRLEAD_SECRET_STORE: "file" };

/** The page's addresses and files, with real servers and files behind them. */
async function scene(settings: string): Promise<Machine> {
  const files = {
    "home/.keys/fairlead.pem": String(key.privateKey.export({ format: "pem", type: "pkcs8" })),
    "home/workload": workloadToken(key.privateKey, { iss: platform, aud: authorization.issuer }),
    "home/.cache/company/id-token": newIdToken({ iss: idp.issuer, aud: "app", sub: "ada" }),
  };
  const real = settings
    .replaceAll("https://tools.example.com/mcp", guarded.url)
    .replaceAll("https://login.example.com", authorization.issuer)
    .replaceAll("https://idp.example.com", idp.issuer)
    .replaceAll("/var/run/secrets/tokens/fairlead", "~/workload");
  const here = await machine({ ...files, [userFile]: real });
  for (const [name, stdin] of Object.entries(secrets)) await here.runWith({ env, stdin }, "secret", "set", name);
  return here;
}

test("every section about a kind has an example", () => {
  expect(blocks.map(([, title]) => title)).toEqual([
    "Client secret",
    "Private key",
    "Workload identity",
    "Identity provider of the company",
  ]);
  expect(allSettings).toHaveLength(5);
});

test.each(allSettings.map((json, at) => [at + 1, json] as const))("example %d works", async (_, json) => {
  await using here = await scene(json);
  expect(await here.runWith({ env }, "settings", "validate")).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await here.runWith({ env }, "mcp", "test", "tools", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { steps } = JSON.parse(stdout) as { steps: readonly { step: string; action?: string }[] };
  expect(steps.flatMap(({ step, action }) => (step === "machine" ? [action] : [])).at(-1)).toBe("token request");
});

test("what the page shows is what happens", async () => {
  await using here = await scene(allSettings[0] ?? "");
  const steps = stepsOf("machine-auth.md");
  expect(steps).toHaveLength(2);
  for (const { line, shown } of steps) {
    const { stdout, stderr } = await here.runWith({ env }, ...shellWords(line));
    const output = `${stdout}${stderr}`.replaceAll(guarded.url, "https://tools.example.com/mcp");
    const text = output.replaceAll(authorization.issuer, "https://login.example.com");
    const lines = shown.map((one) => (one === "…" ? "(?:.*\n)*?" : `${literally(one).replaceAll("…", ".*")}\n`));
    expect(text).toMatch(new RegExp(`^${lines.join("")}$`));
  }
});

function workloadToken(privateKey: KeyObject, claims: object): string {
  const now = Math.floor(Date.now() / 1000);
  const signed = [{ alg: "ES256" }, { sub: "pod", iat: now, exp: now + 300, ...claims }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
