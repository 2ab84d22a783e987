import { generateKeyPairSync } from "node:crypto";
import { type GoogleServer, googleServer, status } from "@fairlead/test-servers";
import { Compute, Impersonated, JWT, UserRefreshClient } from "google-auth-library";
import { afterEach, describe, expect, test, vi } from "vitest";

const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform";
const target = "target@project.iam.gserviceaccount.com";

afterEach(() => void vi.unstubAllEnvs());

/** Google's own library is what the stand-ins are held against; only its way into the network is replaced. */
const through = ({ fetch }: GoogleServer) => ({ transporterOptions: { fetchImplementation: fetch, retry: false } });

function robot(google: GoogleServer, scopes: string[] = [cloudPlatform]): JWT {
  const { client_email: email = "", private_key: key = "" } = google.serviceAccountFile;
  return new JWT({ email, key, scopes, ...through(google) });
}

function person(google: GoogleServer): UserRefreshClient {
  const client = new UserRefreshClient(through(google));
  client.fromJSON(google.personFile);
  return client;
}

function claimsOf(token: string | null | undefined): unknown {
  return JSON.parse(Buffer.from(token?.split(".")[1] ?? "", "base64url").toString());
}

describe("the token endpoint", () => {
  test("believes what a service account has signed", async () => {
    await using google = await googleServer({ expiresIn: 60 });
    const { token } = await robot(google).getAccessToken();
    expect(google.tokens.get(token ?? "")).toEqual({
      account: google.serviceAccountFile["client_email"],
      scopes: [cloudPlatform],
      expiresAt: expect.any(Number) as number,
    });
    expect(google.callsTo("token")).toHaveLength(1);
  });

  test("gives a service account an ID token for an audience", async () => {
    await using google = await googleServer();
    const token = await robot(google, []).fetchIdToken("https://service.example");
    expect(claimsOf(token)).toMatchObject({ aud: "https://service.example", iss: "https://accounts.google.com" });
  });

  test("does not believe another key", async () => {
    await using google = await googleServer();
    const { client_email: email = "" } = google.serviceAccountFile;
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const forger = new JWT({ email, key, scopes: [cloudPlatform], ...through(google) });
    await expect(forger.getAccessToken()).rejects.toThrow("invalid_grant: Invalid JWT Signature.");
  });

  test("takes a person's refresh token, until it is no longer good", async () => {
    await using google = await googleServer();
    const { token } = await person(google).getAccessToken();
    expect(google.tokens.get(token ?? "")?.account).toBe("someone@example.com");
    google.settings.refreshError = "invalid_rapt";
    await expect(person(google).getAccessToken()).rejects.toThrow("invalid_rapt");
  });

  test("fails as it is told", async () => {
    await using google = await googleServer();
    google.interrupt("token", status(400));
    await expect(robot(google).getAccessToken()).rejects.toThrow("400");
    await robot(google).getAccessToken();
  });
});

describe("the IAM credentials API", () => {
  const acting = (google: GoogleServer, as: string, sourceClient = person(google)) =>
    new Impersonated({ sourceClient, targetPrincipal: as, targetScopes: [cloudPlatform], ...through(google) });

  test("gives the tokens of an account that the caller may act as", async () => {
    await using google = await googleServer();
    const client = acting(google, target);
    expect(claimsOf(await client.fetchIdToken("https://service.example"))).toMatchObject({
      aud: "https://service.example",
      email: target,
    });
    const { token } = await client.getAccessToken();
    expect(google.tokens.get(token ?? "")?.account).toBe(target);
  });

  test("refuses an account that the caller may not act as", async () => {
    await using google = await googleServer();
    await expect(acting(google, "other@project.iam.gserviceaccount.com").getAccessToken()).rejects.toThrow(
      "PERMISSION_DENIED",
    );
  });

  test.each([
    ["an unknown token", () => "google-access-0", 401],
    ["a token with too little", tokenFor("https://www.googleapis.com/auth/drive"), 403],
    ["a token with enough", tokenFor(cloudPlatform), 200],
  ])("answers a caller with %s", async (_what, tokenFrom, expected) => {
    await using google = await googleServer();
    const answered = await fetch(`${google.origin}/v1/projects/-/serviceAccounts/${target}:generateIdToken`, {
      method: "POST",
      headers: { authorization: `Bearer ${await tokenFrom(google)}` },
      body: JSON.stringify({ audience: "https://service.example" }),
    });
    expect(answered.status).toBe(expected);
  });

  function tokenFor(scope: string) {
    return async (google: GoogleServer) => (await robot(google, [scope]).getAccessToken()).token ?? "";
  }
});

describe("the machine's metadata", () => {
  test("gives its account's tokens", async () => {
    await using google = await googleServer();
    vi.stubEnv("GCE_METADATA_HOST", google.metadataHost);
    const machine = new Compute({ scopes: [cloudPlatform] });
    const { token } = await machine.getAccessToken();
    expect(google.tokens.get(token ?? "")?.scopes).toEqual([cloudPlatform]);
    const idToken = await machine.fetchIdToken("https://service.example");
    expect(google.idTokens).toContain(idToken);
    expect(claimsOf(idToken)).toMatchObject({ aud: "https://service.example" });
  });

  test.each([
    ["without its header", "instance/service-accounts/default/token", {}, 403],
    [
      "for more than the machine may",
      `instance/service-accounts/default/token?scopes=${cloudPlatform}.more`,
      undefined,
      403,
    ],
    ["for another account", "instance/service-accounts/other/token", undefined, 404],
    ["for no audience", "instance/service-accounts/default/identity", undefined, 400],
    ["for the project", "project/project-id", undefined, 200],
  ])("answers a caller that asks %s", async (_what, path, headers = { "Metadata-Flavor": "Google" }, expected) => {
    await using google = await googleServer();
    expect((await fetch(`${google.origin}/computeMetadata/v1/${path}`, { headers })).status).toBe(expected);
  });

  test("has no tokens where there is no account", async () => {
    await using google = await googleServer({ machine: undefined });
    const headers = { "Metadata-Flavor": "Google" };
    const address = `${google.origin}/computeMetadata/v1/instance/service-accounts/default/token`;
    expect((await fetch(address, { headers })).status).toBe(404);
  });
});

test("nothing but Google's addresses is stood in for", async () => {
  await using google = await googleServer();
  await expect(google.fetch("https://elsewhere.example/token")).rejects.toThrow("not one of Google's addresses");
});
