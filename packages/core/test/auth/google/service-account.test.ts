import { describe, expect, test } from "vitest";
import { checkServiceAccountEntry } from "../../../src/auth/google/service-account.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";
import { googleScene, headersOf, refusal, target } from "./google-scene.ts";

const audience = "https://service.example";
const impersonation = {
  authProviderType: "service_account_impersonation",
  targetAudience: audience,
  targetServiceAccount: target,
  httpUrl: "https://service.example/mcp",
};
const { httpUrl } = impersonation;

function claimsOf({ authorization = "" }: Readonly<Record<string, string>>): unknown {
  return JSON.parse(Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString());
}

test("the service account's identity token, for its audience, is the token", async () => {
  await using scene = await googleScene();
  const headers = await headersOf(await scene.hookFor(impersonation), httpUrl);
  expect(scene.google.idTokens).toContain(headers["authorization"]?.slice("Bearer ".length));
  expect(claimsOf(headers)).toMatchObject({ aud: audience, email: target });
  const [asked] = scene.google.callsTo("generateIdToken");
  expect(JSON.parse(asked?.request.body ?? "")).toMatchObject({ audience, includeEmail: true });
  expect(Object.keys(headers)).toEqual(["authorization"]);
});

test("it is kept until shortly before its end, as it says itself", async () => {
  await using scene = await googleScene({ expiresIn: 3600 });
  let now = Date.now();
  const hook = await scene.hookFor(impersonation, { now: () => now });
  const first = await headersOf(hook, httpUrl);
  now += 3_290_000;
  expect(await Promise.all([headersOf(hook, httpUrl), headersOf(hook, httpUrl)])).toEqual([first, first]);
  now += 20_000;
  expect(await headersOf(hook, httpUrl)).not.toEqual(first);
  expect(scene.google.callsTo("generateIdToken")).toHaveLength(2);
});

test("it goes to no other origin, and one that is refused is replaced once", async () => {
  await using scene = await googleScene();
  const hook = await scene.hookFor(impersonation);
  expect(await headersOf(hook, "https://evil.example/mcp")).toEqual({});
  const sent = await headersOf(hook, httpUrl);
  const { signal } = new AbortController();
  expect(await hook.challenged(refusal(sent), signal)).toBe(true);
  const again = await headersOf(hook, httpUrl);
  expect(again).not.toEqual(sent);
  await expect(hook.challenged(refusal(again, 1), signal)).rejects.toThrow("rejected the Google token");
});

test("an account that may not be acted as is refused with the role that is missing", async () => {
  await using scene = await googleScene({ impersonable: [] });
  await expect(headersOf(await scene.hookFor(impersonation), httpUrl)).rejects.toMatchObject({
    code: "auth_failed",
    message:
      "Google returned no token for \"cloud\": PERMISSION_DENIED: Permission 'iam.serviceAccounts.getOpenIdToken' denied on resource.",
    next: `Give your account the role roles/iam.serviceAccountOpenIdTokenCreator on ${target}.`,
  });
});

describe("nothing is asked", () => {
  test.each([
    ["a/../../elsewhere"],
    ["victim@project.iam.gserviceaccount.com:generateAccessToken?x="],
    ["victim@project.iam.gserviceaccount.com/keys"],
    ["victim%2f@project"],
    ["-\n"],
  ])("in the name of %j", async (targetServiceAccount) => {
    await using scene = await googleScene();
    await expect(scene.hookFor({ ...impersonation, targetServiceAccount })).rejects.toThrow(
      "has an invalid service account",
    );
    expect(scene.google.seen).toEqual([]);
  });

  test("for an address without encryption", async () => {
    await using scene = await googleScene();
    await expect(scene.hookFor({ ...impersonation, httpUrl: "http://service.example/mcp" })).rejects.toThrow(
      '"cloud" has no https address, so Fairlead sends it no Google token',
    );
  });
});

describe("an entry of a workspace", () => {
  const check = async (entry: object, hosts: readonly string[] = []): Promise<object> => {
    await using world = await createWorld();
    await world.writeWorkspace({ mcpServers: { cloud: { ...impersonation, ...entry } } });
    const { definition } = serverOf(await world.load(), "cloud");
    if (definition?.transport.kind !== "http") throw new Error("no definition");
    return checkServiceAccountEntry(definition, { serverUrl: definition.transport.url, hosts });
  };
  const elsewhere = { httpUrl: "https://thief.example/mcp" };

  test("gets tokens for itself", async () => {
    expect(await check({})).toEqual({ audience, account: target });
  });

  test("gets none for another place, unless the person lets its host have them", async () => {
    await expect(check(elsewhere)).rejects.toThrow(
      /is at thief\.example, but requests tokens for another address: "https:\/\/service/,
    );
    await expect(check({ targetAudience: "client-id" })).rejects.toThrow("requests tokens for another address");
    expect(await check(elsewhere, ["thief.example"])).toEqual({ audience, account: target });
  });
});
