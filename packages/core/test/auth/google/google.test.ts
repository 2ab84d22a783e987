import { status } from "@fairlead/test-servers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { HostError } from "../../../src/errors.ts";
import { createBoundedFetch } from "../../../src/net/bounded-fetch.ts";
import { cloudPlatform, googleScene, headersOf, refusal, target } from "./google-scene.ts";

const google_ = { authProviderType: "google_credentials", oauth: { scopes: [cloudPlatform] } };
const never = AbortSignal.any([]);

afterEach(() => void vi.unstubAllEnvs());

function fault(error: unknown): object {
  if (!(error instanceof HostError)) throw error;
  const { code, message, next } = error;
  return { code, message, next };
}

describe("credentials of this machine", () => {
  test("of a person go to the server, with the project that pays", async () => {
    await using scene = await googleScene();
    const headers = await headersOf(await scene.hookFor(google_));
    const token = [...scene.google.tokens.keys()].at(-1);
    expect(headers).toEqual({ authorization: `Bearer ${token}`, "x-goog-user-project": "quota-project" });
    expect(scene.google.tokens.get(token ?? "")?.account).toBe("someone@example.com");
  });

  test("of a service account are asked for with the scopes of the settings", async () => {
    await using scene = await googleScene({ credentials: ({ serviceAccountFile }) => serviceAccountFile });
    const oauth = { scopes: ["https://www.googleapis.com/auth/one", "https://www.googleapis.com/auth/two"] };
    expect(Object.keys(await headersOf(await scene.hookFor({ ...google_, oauth })))).toEqual(["authorization"]);
    expect([...scene.google.tokens.values()].map(({ scopes }) => scopes)).toEqual([oauth.scopes]);
  });

  test("may be another account's that they stand for", async () => {
    await using scene = await googleScene({
      credentials: ({ personFile }) => ({
        type: "impersonated_service_account",
        source_credentials: personFile,
        service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${target}:generateAccessToken`,
      }),
    });
    const { authorization = "" } = await headersOf(await scene.hookFor(google_));
    expect(scene.google.tokens.get(authorization.slice("Bearer ".length))?.account).toBe(target);
  });

  test("are those of the file that a variable names, before those that gcloud left", async () => {
    await using other = await googleScene({ credentials: ({ serviceAccountFile }) => serviceAccountFile });
    await using scene = await googleScene({ env: { GOOGLE_APPLICATION_CREDENTIALS: other.file } });
    const hook = await scene.hookFor(google_, { fetch: other.google.fetch });
    await headersOf(hook);
    expect([...other.google.tokens.values()].map(({ account }) => account)).toEqual([
      other.google.serviceAccountFile["client_email"],
    ]);
  });

  test("are asked for over our own bounded way into the network", async () => {
    await using scene = await googleScene();
    const { origin } = scene.google;
    const bounded = createBoundedFetch({ near: origin, env: {} });
    const hook = await scene.hookFor(google_, {
      fetch: (url, init) => bounded(new URL(new URL(url).pathname, origin), init),
    });
    expect(await headersOf(hook)).toMatchObject({ authorization: "Bearer google-access-1" });
  });
});

describe("the project that pays", () => {
  test("is the entry's own, if that names one", async () => {
    await using scene = await googleScene();
    const hook = await scene.hookFor({ ...google_, headers: { "X-Goog-User-Project": "mine" } });
    expect(Object.keys(await headersOf(hook))).toEqual(["authorization"]);
  });

  test("is the one of the environment, before that of the file", async () => {
    await using scene = await googleScene({ env: { GOOGLE_CLOUD_QUOTA_PROJECT: "other" } });
    expect(await headersOf(await scene.hookFor(google_))).toMatchObject({ "x-goog-user-project": "other" });
  });
});

describe("a token", () => {
  test("is asked for once, however many requests need it", async () => {
    await using scene = await googleScene();
    const hook = await scene.hookFor(google_);
    const all = await Promise.all(Array.from({ length: 8 }, () => headersOf(hook)));
    all.push(await headersOf(hook));
    expect(new Set(all.map(({ authorization }) => authorization)).size).toBe(1);
    expect(scene.google.callsTo("token")).toHaveLength(1);
  });

  test("is renewed shortly before its end, and used to its end if that fails", async () => {
    await using scene = await googleScene({ expiresIn: 3600 });
    let now = Date.now();
    const hook = await scene.hookFor(google_, { now: () => now });
    const first = await headersOf(hook);
    now += 3_290_000;
    expect(await headersOf(hook)).toEqual(first);
    now += 20_000;
    scene.google.interrupt("token", status(400));
    expect(await headersOf(hook)).toEqual(first);
    expect(await headersOf(hook)).not.toEqual(first);
    now += 4_000_000;
    scene.google.interrupt("token", status(400));
    await expect(headersOf(hook)).rejects.toThrow('Google returned no token for "cloud"');
  });

  test("goes to no other origin", async () => {
    await using scene = await googleScene();
    const hook = await scene.hookFor(google_);
    for (const url of ["https://other.googleapis.com/mcp", "http://tools.googleapis.com/mcp", "https://evil.example/"])
      expect(await headersOf(hook, url)).toEqual({});
    expect(scene.google.seen).toEqual([]);
  });

  test("that is refused is replaced once", async () => {
    await using scene = await googleScene();
    const hook = await scene.hookFor(google_);
    const sent = await headersOf(hook);
    expect(await hook.challenged(refusal(sent), never)).toBe(true);
    expect(await hook.challenged(refusal(sent), never)).toBe(true);
    expect(scene.google.callsTo("token")).toHaveLength(2);
    const again = await headersOf(hook);
    expect(again).not.toEqual(sent);
    await expect(hook.challenged(refusal(again, 1), never)).rejects.toThrow('"cloud" rejected the Google token');
    expect(await hook.challenged(refusal(again, 0, 403), never)).toBe(false);
  });
});

describe("hosts", () => {
  const elsewhere = "is at HOST, but Fairlead sends Google tokens to *.googleapis.com, luci.app, *.luci.app only";

  test.each([
    ["https://tools.googleapis.com/mcp", []],
    ["https://a.b.googleapis.com/mcp", []],
    ["https://luci.app/mcp", []],
    ["https://x.luci.app/mcp", []],
    ["https://TOOLS.GoogleApis.com/mcp", []],
    ["https://tools.example.com/mcp", ["Tools.Example.com"]],
    ["https://x.run.app/mcp", ["*.run.app"]],
    ["http://127.0.0.1:8080/mcp", ["127.0.0.1"]],
  ])("%s may have it", async (httpUrl, hosts) => {
    await using scene = await googleScene();
    const hook = await scene.hookFor({ ...google_, httpUrl }, { hosts });
    expect(await headersOf(hook, httpUrl)).toMatchObject({ authorization: "Bearer google-access-1" });
  });

  test.each([
    ["https://googleapis.com/mcp", elsewhere.replace("HOST", "googleapis.com")],
    ["https://tools.googleapis.com.evil.example/mcp", elsewhere.replace("HOST", "tools.googleapis.com.evil.example")],
    ["https://evilgoogleapis.com/mcp", elsewhere.replace("HOST", "evilgoogleapis.com")],
    ["https://evilluci.app/mcp", elsewhere.replace("HOST", "evilluci.app")],
    ["https://run.app/mcp", elsewhere.replace("HOST", "run.app")],
    ["http://tools.googleapis.com/mcp", "has no https address, so Fairlead sends it no Google token"],
    ["https://me@tools.googleapis.com/mcp", "has no https address, so Fairlead sends it no Google token"],
  ])("%s may not", async (httpUrl, why) => {
    await using scene = await googleScene();
    await expect(scene.hookFor({ ...google_, httpUrl }, { hosts: ["*.run.app"] })).rejects.toThrow(`"cloud" ${why}`);
    expect(scene.google.seen).toEqual([]);
  });
});

describe("what goes wrong", () => {
  const login = "gcloud auth application-default login";

  test.each([
    ["a person who has to sign in again", "invalid_rapt", "auth_required", login],
    ["a grant that has ended", "invalid_grant", "auth_required", login],
    [
      "an answer of another kind",
      "unauthorized_client",
      "auth_failed",
      "Check your Google credentials and the network, then try again.",
    ],
  ])("is said in words: %s", async (_what, refreshError, code, next) => {
    await using scene = await googleScene({ refreshError });
    const error = await headersOf(await scene.hookFor(google_)).catch(fault);
    expect(error).toEqual({
      code,
      message:
        code === "auth_required"
          ? `Google requires a new sign-in for "cloud" (${refreshError}: Reauthentication is needed.)`
          : `Google returned no token for "cloud": ${refreshError}: Reauthentication is needed.`,
      next,
    });
  });

  test.each([
    ["that holds something else", "[]", "the file has no supported Google credentials"],
    ["of an unknown kind", { type: "gdch_service_account" }, "the file has no supported Google credentials"],
    ["that is not text", "\u{fffe}\ud800", "the file has no supported Google credentials"],
  ])("is said with the file: one %s", async (_what, content, why) => {
    await using scene = await googleScene({ credentials: () => content });
    expect(await headersOf(await scene.hookFor(google_)).catch(fault)).toEqual({
      code: "auth_failed",
      message: `the Google credentials for "cloud" in ${scene.file} cannot be used: ${why}`,
      next: login,
    });
  });

  test("is said with the variable, if that names no file", async () => {
    await using scene = await googleScene({ env: { GOOGLE_APPLICATION_CREDENTIALS: "/nowhere/key.json" } });
    expect(await headersOf(await scene.hookFor(google_)).catch(fault)).toMatchObject({
      message:
        'the Google credentials for "cloud" in /nowhere/key.json cannot be used: the file named by GOOGLE_APPLICATION_CREDENTIALS does not exist',
      next: "Set GOOGLE_APPLICATION_CREDENTIALS to a valid credentials file, or unset it.",
    });
  });

  test("is that there are none", async () => {
    const env = { METADATA_SERVER_DETECTION: "none" };
    await using scene = await googleScene({ env, credentials: () => undefined });
    expect(await headersOf(await scene.hookFor(google_)).catch(fault)).toEqual({
      code: "auth_required",
      message: '"cloud" needs Google credentials, and this machine has none',
      next: login,
    });
  });

  test("is our own words, where nothing answers", async () => {
    await using scene = await googleScene();
    const hook = await scene.hookFor(google_, {
      fetch: async () => {
        throw new HostError("unreachable", "nobody answers there");
      },
    });
    await expect(headersOf(hook)).rejects.toThrow('Google returned no token for "cloud": nobody answers there');
  });

  test("does not repeat a secret of the credentials", async () => {
    await using scene = await googleScene({ refreshError: "server_error" });
    const error = await headersOf(await scene.hookFor(google_)).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(HostError);
    const { client_secret: secret = "", refresh_token: refresh = "" } = scene.google.personFile;
    expect((error as HostError).cause).toBeUndefined();
    for (const hidden of [secret, refresh]) expect(String(error)).not.toContain(hidden);
  });
});

test("scopes are needed, and the settings say where", async () => {
  await using scene = await googleScene();
  const entry = { authProviderType: "google_credentials", oauth: { scopes: ["${NONE:-}"] } };
  await expect(scene.hookFor(entry)).rejects.toThrow('"cloud" uses Google credentials, but sets no scopes');
});
