import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { cloudPlatform, type GoogleScene, googleScene, headersOf, type SceneOptions, target } from "./google-scene.ts";

const entry = { authProviderType: "google_credentials", oauth: { scopes: [cloudPlatform] } };
const impersonation = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${target}:generateAccessToken`;
const audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q";

function workload(source: object, more: object = {}): object {
  return {
    type: "external_account",
    audience,
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: "https://sts.googleapis.com/v1/token",
    credential_source: source,
    ...more,
  };
}

function sceneOf(source: object, { more, ...options }: SceneOptions & { readonly more?: object } = {}) {
  return googleScene({ credentials: () => workload(source, more), ...options });
}

/** The account that Google's token for the server belongs to. */
async function accountIn(scene: GoogleScene): Promise<string | undefined> {
  const { authorization = "" } = await headersOf(await scene.hookFor(entry));
  return scene.google.tokens.get(authorization.slice("Bearer ".length))?.account;
}

describe("the subject token is read from", () => {
  test.each([
    ["a text file", "from-text\n", {}, "workload:from-text"],
    [
      "a member of a JSON file",
      { id: { x: 1 }, access_token: "from-json" },
      { format: { type: "json", subject_token_field_name: "access_token" } },
      "workload:from-json",
    ],
  ])("%s", async (_what, content, format, account) => {
    await using folder = await temporaryFolder();
    const file = await folder.write("subject", content);
    await using scene = await sceneOf({ file, ...format });
    expect(await accountIn(scene)).toBe(account);
    const [exchange] = scene.google.callsTo("exchange");
    expect(Object.fromEntries(exchange?.params ?? [])).toMatchObject({ audience, scope: cloudPlatform });
  });

  test("an address of this machine's network, which no proxy is asked for", async () => {
    await using platform = await webServer(({ headers, path }, response) => {
      response.end(JSON.stringify({ value: headers["metadata"] === "true" ? `from-url-${path}` : "" }));
    });
    const source = {
      url: `${platform.origin}/token`,
      headers: { Metadata: "true" },
      format: { type: "json", subject_token_field_name: "value" },
    };
    await using scene = await sceneOf(source, { env: { HTTP_PROXY: "http://127.0.0.1:1" } });
    expect(await accountIn(scene)).toBe("workload:from-url-/token");
  });

  test("AWS's variables: Google gets a signed request for the workload's identity", async () => {
    let asked: { readonly url: string; readonly headers: readonly { key: string; value: string }[] } | undefined;
    await using scene = await sceneOf(
      {
        environment_id: "aws1",
        regional_cred_verification_url:
          "https://sts.{region}.amazonaws.com.cn?Action=GetCallerIdentity&Version=2011-06-15",
      },
      {
        env: { AWS_REGION: "cn-north-1", AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "hidden" },
        workloadOf(token) {
          asked = JSON.parse(decodeURIComponent(token));
          return "aws";
        },
      },
    );
    expect(await accountIn(scene)).toBe("aws");
    expect(asked?.url).toBe("https://sts.cn-north-1.amazonaws.com.cn?Action=GetCallerIdentity&Version=2011-06-15");
    const headers = Object.fromEntries((asked?.headers ?? []).map(({ key, value }) => [key, value]));
    expect(headers).toMatchObject({
      host: "sts.cn-north-1.amazonaws.com.cn",
      "x-goog-cloud-target-resource": audience,
      authorization: expect.stringContaining("AWS4-HMAC-SHA256 Credential=key/"),
    });
    expect(JSON.stringify(asked)).not.toContain("hidden");
  });

  test("AWS's metadata server, with a session token", async () => {
    await using platform = await webServer(({ method, path, headers }, response) => {
      if (method === "PUT")
        return void response.end(`session for ${String(headers["x-aws-ec2-metadata-token-ttl-seconds"])} s`);
      if (headers["x-aws-ec2-metadata-token"] !== "session for 300 s") return void response.writeHead(401).end();
      const answers: Readonly<Record<string, string>> = {
        "/zone": "eu-west-1b",
        "/role": "my-role",
        "/role/my-role": JSON.stringify({ AccessKeyId: "key", SecretAccessKey: "hidden", Token: "temporary" }),
      };
      response.end(answers[path]);
    });
    const { origin } = platform;
    const tokens: string[] = [];
    await using scene = await sceneOf(
      {
        environment_id: "aws1",
        region_url: `${origin}/zone`,
        url: `${origin}/role`,
        imdsv2_session_token_url: `${origin}/session`,
        regional_cred_verification_url:
          "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
      },
      { workloadOf: (token) => `aws ${tokens.push(decodeURIComponent(token))}` },
    );
    expect(await accountIn(scene)).toBe("aws 1");
    expect(tokens[0]).toContain("https://sts.eu-west-1.amazonaws.com?");
    expect(tokens[0]).toContain('{"key":"x-amz-security-token","value":"temporary"}');
  });
});

describe("a program", () => {
  const permission = { GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: "1" };

  async function program(script: string) {
    const folder = await temporaryFolder();
    const file = await folder.write("a program", `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o700);
    return Object.assign(folder, { command: `"${file}" one "two three"` });
  }

  const answer = (more: object): string =>
    JSON.stringify({ version: 1, success: true, ...more }).replaceAll('"', '\\"');
  const token = answer({ token_type: "urn:ietf:params:oauth:token-type:id_token", id_token: "$#:$2:$VARIABLES" });

  test("runs only if the user allows it, with the arguments and variables that Google defines, and gives the token", async () => {
    const names = ["AUDIENCE", "TOKEN_TYPE", "INTERACTIVE", "OUTPUT_FILE", "IMPERSONATED_EMAIL"];
    const values = names.map((name) => `\${GOOGLE_EXTERNAL_ACCOUNT_${name}-none}`).join("|");
    await using made = await program(`VARIABLES="${values}"; echo "${token}"`);
    const executable = { command: made.command };
    await using denied = await sceneOf({ executable });
    await expect(accountIn(denied)).rejects.toMatchObject({
      message:
        '"cloud" has no subject token for Google: the credentials file names a program, and running this program is not allowed',
      next: "If you trust that file, set GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1.",
    });
    await using allowed = await sceneOf({ executable }, { env: permission });
    const received = `${audience}|urn:ietf:params:oauth:token-type:jwt|0|none|none`;
    expect(await accountIn(allowed)).toBe(`workload:2:two three:${received}`);
  });

  test("does not run while its answer in the output file is valid, and then gets the names of file and account", async () => {
    const received = "$GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE|$GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL";
    // The program exits with 9 if both variables are right, otherwise with 8.
    await using made = await program(`[ "${received}" = "\${0%/*}/output.json|${target}" ] && exit 9; exit 8`);
    const answerFor = (seconds: number) => ({
      version: 1,
      success: true,
      token_type: "urn:ietf:params:oauth:token-type:saml2",
      saml_response: "from the file",
      expiration_time: Date.now() / 1000 + seconds,
    });
    const output_file = await made.write("output.json", answerFor(60));
    const source = { executable: { command: made.command, output_file } };
    await using workloadOnly = await sceneOf(source, { env: permission });
    expect(await accountIn(workloadOnly)).toBe("workload:from the file");
    const more = { service_account_impersonation_url: impersonation };
    await using withAccount = await sceneOf(source, { env: permission, more });
    await made.write("output.json", answerFor(-1));
    await expect(accountIn(withAccount)).rejects.toThrow(`the program ${join(made.path, "a program")} failed (9)`);
  });

  test.each([
    [`echo secret`, 'the program\'s answer is not a JSON object with "version": 1'],
    [
      `echo '{"version":1,"success":false,"code":"401","message":"Who are you?"}'`,
      "reports an error: 401: Who are you?",
    ],
    [`echo '{"version":1,"success":true}'`, "the program's answer has no id_token"],
    [`echo '{"version":1,"success":true,"id_token":"t","expiration_time":1}'`, "the program's token has expired"],
  ])("that answers otherwise is an error: %s", async (script, why) => {
    await using made = await program(script);
    await using scene = await sceneOf({ executable: { command: made.command } }, { env: permission });
    const error = await accountIn(scene).catch(String);
    expect(error).toContain(why);
    expect(error).not.toContain("secret");
  });

  test("is never searched for", async () => {
    await using scene = await sceneOf({ executable: { command: "sh -c true" } }, { env: permission });
    await expect(accountIn(scene)).rejects.toThrow('the path of the program "sh" is not absolute');
  });
});

test("a workload may act as a service account", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("subject", "token");
  const more = {
    service_account_impersonation_url: impersonation,
    service_account_impersonation: { token_lifetime_seconds: 600 },
  };
  await using scene = await sceneOf({ file }, { more });
  expect(await accountIn(scene)).toBe(target);
  const [asked] = scene.google.callsTo("generateAccessToken");
  expect(JSON.parse(asked?.request.body ?? "")).toMatchObject({ lifetime: "600s" });
});

test("a person of a workforce pool is known by the file that gcloud writes", async () => {
  const file = { type: "external_account_authorized_user", audience, token_url: "https://sts.googleapis.com/v1/token" };
  await using incomplete = await googleScene({ credentials: () => file });
  await expect(accountIn(incomplete)).rejects.toThrow('"client_id", "client_secret" or "refresh_token" is missing');
  const person = { client_id: "google-client", client_secret: "google-secret", refresh_token: "google-refresh" };
  await using scene = await googleScene({ credentials: () => ({ ...file, ...person }) });
  expect(await accountIn(scene)).toBe("someone@example.com");
});

describe("what goes wrong", () => {
  test("a refused subject token does not suggest a person's sign-in", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write("subject", "token");
    await using scene = await sceneOf({ file }, { workloadOf: () => undefined });
    await expect(accountIn(scene)).rejects.toMatchObject({
      code: "auth_failed",
      message: 'Google returned no token for "cloud": invalid_grant: The subject token is not valid.',
      next: "Check your Google credentials and the network, then try again.",
    });
  });

  test.each([
    [{ file: "/nowhere/subject" }, "/nowhere/subject does not exist"],
    [{ file: "/" }, "/ cannot be read: it is a folder, not a file"],
    [{ url: "ftp://127.0.0.1/" }, 'Fairlead sends no requests to "ftp:" addresses'],
    [{ url: "http://127.0.0.1:1/" }, "127.0.0.1:1"],
    [
      { environment_id: "aws1", regional_cred_verification_url: "https://sts.{region}.amazonaws.com" },
      "neither the environment nor the credentials file says where to find the AWS region",
    ],
  ])("is said with its place: %j", async (source, why) => {
    await using scene = await sceneOf(source);
    const error = await accountIn(scene).catch(String);
    expect(error).toContain('"cloud" has no subject token for Google: ');
    expect(error).toContain(why);
    expect(scene.google.seen).toEqual([]);
  });

  test.each([
    [" \n", {}],
    ["{", { format: { type: "json", subject_token_field_name: "t" } }],
    [{ t: "" }, { format: { type: "json", subject_token_field_name: "t" } }],
  ])("a file with the content %j contains no token, and Fairlead sends Google no request", async (content, format) => {
    await using folder = await temporaryFolder();
    const file = await folder.write("subject", content);
    await using scene = await sceneOf({ file, ...format });
    const where = Object.keys(format).length === 0 ? "" : ' in "t"';
    await expect(accountIn(scene)).rejects.toMatchObject({
      message: `"cloud" has no subject token for Google: ${file} contains no token${where}`,
    });
    expect(scene.google.seen).toEqual([]);
  });

  test.each([
    [{}, "the credential source is neither a file, an address, AWS nor an executable"],
    [{ certificate: {} }, "X.509 certificates as credential source are not supported"],
    [{ environment_id: "aws2", regional_cred_verification_url: "x" }, "the AWS credential source is not supported"],
    [{ executable: { command: "/x", timeout_millis: 1 } }, "the executable in the credential source is invalid"],
    [{ file: "x", format: { type: "json" } }, '"format" of the credential source is invalid'],
  ])("a source that is not supported is named: %j", async (source, why) => {
    await using scene = await sceneOf(source);
    await expect(accountIn(scene)).rejects.toThrow(`in ${scene.file} cannot be used: ${why}`);
  });
});
