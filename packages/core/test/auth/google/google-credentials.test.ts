import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type GoogleCredentialsOptions, openGoogleClient } from "../../../src/auth/google/google-credentials.ts";
import { signInWithGoogle } from "../../../src/auth/google/google-failure.ts";

const person = { type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "from the file" };

function optionsFor(home: string, platform: NodeJS.Platform, env: Record<string, string>): GoogleCredentialsOptions {
  return {
    serverName: "docs",
    environment: { env, home, cwd: home, platform },
    scopes: ["s"],
    fetch: async () => Promise.reject(new Error("no request is expected")),
  };
}

test.each<[string, NodeJS.Platform, string, Record<string, string>]>([
  ["home/.config/gcloud", "linux", "home", {}],
  ["data/gcloud", "win32", "home", { APPDATA: "data" }],
  ["sdk", "linux", "home", { CLOUDSDK_CONFIG: "sdk" }],
  ["sdk", "win32", "home", { CLOUDSDK_CONFIG: "sdk", APPDATA: "data" }],
])("the credentials in %s are found on %s", async (folder, platform, home, names) => {
  await using place = await temporaryFolder();
  await place.write(`${folder}/application_default_credentials.json`, person);
  const env = Object.fromEntries(Object.entries(names).map(([name, path]) => [name, join(place.path, path)]));
  const client = await openGoogleClient(optionsFor(join(place.path, home), platform, env));
  expect(client.credentials.refresh_token).toBe("from the file");
});

const nothing = "the file has no supported Google credentials";
const impersonated = "https://iam.example/serviceAccounts/a:generateAccessToken";

test.each<[string, unknown, string]>([
  ["no JSON", "{", nothing],
  ["another type", { type: "other" }, nothing],
  ["no type", {}, nothing],
  [
    "a workforce user without a secret",
    { type: "external_account_authorized_user", client_id: "c", refresh_token: "r" },
    '"client_id", "client_secret" or "refresh_token" is missing',
  ],
  [
    "impersonation without a source",
    { type: "impersonated_service_account", service_account_impersonation_url: impersonated },
    nothing,
  ],
  ["impersonation without an address", { type: "impersonated_service_account", source_credentials: person }, nothing],
])("a file with %s is refused, and the user reads why", async (_, content, why) => {
  await using place = await temporaryFolder();
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const file = await place.write("credentials.json", text);
  const options = optionsFor(place.path, "linux", { GOOGLE_APPLICATION_CREDENTIALS: file });
  await expect(openGoogleClient(options)).rejects.toMatchObject({
    code: "auth_failed",
    message: `the Google credentials for "docs" in ${file} cannot be used: ${why}`,
    next: "Set GOOGLE_APPLICATION_CREDENTIALS to a valid credentials file, or unset it.",
  });
});

test("if gcloud's own file cannot be used, the user is told to sign in with gcloud", async () => {
  await using place = await temporaryFolder();
  await place.write(".config/gcloud/application_default_credentials.json", {});
  await expect(openGoogleClient(optionsFor(place.path, "linux", {}))).rejects.toMatchObject({
    code: "auth_failed",
    next: signInWithGoogle,
  });
});

test.each<[Record<string, string>, string]>([
  [{}, "file-project"],
  [{ GOOGLE_CLOUD_QUOTA_PROJECT: "" }, "file-project"],
  [{ GOOGLE_CLOUD_QUOTA_PROJECT: "variable-project" }, "variable-project"],
])("with the variables %j, the quota project is %s", async (env, project) => {
  await using place = await temporaryFolder();
  const file = await place.write("credentials.json", { ...person, quota_project_id: "file-project" });
  const options = optionsFor(place.path, "linux", { ...env, GOOGLE_APPLICATION_CREDENTIALS: file });
  expect((await openGoogleClient(options)).quotaProjectId).toBe(project);
});

test("a folder in place of the file, and a file that does not exist, are named", async () => {
  await using place = await temporaryFolder();
  const open = (file: string) =>
    openGoogleClient(optionsFor(place.path, "linux", { GOOGLE_APPLICATION_CREDENTIALS: file }));
  await expect(open(place.path)).rejects.toThrow("it is a folder, not a file");
  await expect(open(join(place.path, "none"))).rejects.toThrow(
    "the file named by GOOGLE_APPLICATION_CREDENTIALS does not exist",
  );
});
