/**
 * Finds Google's application default credentials: a file, or the machine's service account. Google's library could find
 * them too, but it would run any program named `gcloud`.
 */

import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type {
  AuthClient,
  ExternalAccountAuthorizedUserClientOptions,
  JWTInput,
  OAuth2ClientOptions,
} from "google-auth-library";
import { HostError } from "../../errors.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Environment } from "../../settings/read/paths.ts";
import { signInWithGoogle } from "./google-failure.ts";

type Library = typeof import("./google-library.ts");

/** The server that needs a Google token, and where to look for credentials. */
export interface GoogleCredentialsOptions {
  readonly serverName: string;
  readonly environment: Environment;
  readonly scopes: readonly string[];
  /** Sends requests to Google. Requests to the machine's metadata server do not use it. */
  readonly fetch: Fetch;
}

const variable = "GOOGLE_APPLICATION_CREDENTIALS";

/**
 * Returns Google's client for the credentials of this machine.
 *
 * @throws HostError `auth_required` if there are no credentials, `auth_failed` if they cannot be used
 */
export async function openGoogleClient(options: GoogleCredentialsOptions): Promise<AuthClient> {
  const { environment } = options;
  const library = await import("./google-library.ts");
  const named = environment.env[variable];
  const file = named === undefined || named === "" ? gcloudFile(environment) : named;
  const found = file === undefined ? ({ kind: "absent" } as const) : await readText(file, limits.settingsBytes);
  if (found.kind === "text") {
    const fail = (why: string): HostError => unusable(options, file, why);
    return withQuotaProject(await fromFile(parseObject(found.text) ?? {}, { ...options, fail }, library), environment);
  }
  if (found.kind === "unreadable") throw unusable(options, file, found.reason);
  if (file === named) throw unusable(options, file, `the file named by ${variable} does not exist`);
  return withQuotaProject(await fromMachine(options, library), environment);
}

function gcloudFile({ env, home, platform }: Environment): string | undefined {
  const appData = env["APPDATA"];
  const usual =
    platform === "win32"
      ? appData === undefined
        ? undefined
        : join(appData, "gcloud")
      : join(home, ".config", "gcloud");
  const folder = env["CLOUDSDK_CONFIG"] || usual;
  return folder === undefined ? undefined : join(folder, "application_default_credentials.json");
}

interface FileOptions extends GoogleCredentialsOptions {
  /** Returns the error for a credentials file that cannot be used. */
  readonly fail: (why: string) => HostError;
}

async function fromFile(json: JsonObject, options: FileOptions, library: Library): Promise<AuthClient> {
  const scopes = [...options.scopes];
  const shared = clientOptions(options);
  switch (textIn(json, "type") ?? "") {
    case "authorized_user": {
      const client = new library.UserRefreshClient(shared);
      client.fromJSON(json as JWTInput);
      return client;
    }
    case "service_account": {
      const client = new library.JWT({ ...shared, scopes });
      client.fromJSON(json as JWTInput);
      return client;
    }
    case "impersonated_service_account":
      return fromImpersonation(json, options, library);
    case "external_account": {
      const { openExternalAccount } = await import("./external-account.ts");
      const { serverName, environment, fail: unusable } = options;
      return openExternalAccount(json, { serverName, environment, scopes, shared, unusable });
    }
    case "external_account_authorized_user":
      if (!isWorkforceUser(json)) throw options.fail('"client_id", "client_secret" or "refresh_token" is missing');
      return new library.ExternalAccountAuthorizedUserClient({ ...json, ...shared });
  }
  throw options.fail("the file has no supported Google credentials");
}

/** Such credentials belong to a person in a workforce pool. `gcloud` creates them. */
function isWorkforceUser(json: JsonObject): json is JsonObject & ExternalAccountAuthorizedUserClientOptions {
  return ["client_id", "client_secret", "refresh_token"].every((key) => textIn(json, key) !== undefined);
}

async function fromImpersonation(json: JsonObject, options: FileOptions, library: Library): Promise<AuthClient> {
  const address = textIn(json, "service_account_impersonation_url") ?? "";
  const targetPrincipal = /\/([^/:]+):generateAccessToken$/.exec(address)?.[1];
  if (!isObject(json["source_credentials"]) || targetPrincipal === undefined)
    throw options.fail("the file has no supported Google credentials");
  const source = await fromFile(json["source_credentials"], options, library);
  return new library.Impersonated({
    ...clientOptions(options),
    sourceClient: source,
    targetPrincipal,
    targetScopes: [...options.scopes],
  });
}

async function fromMachine(options: GoogleCredentialsOptions, library: Library): Promise<AuthClient> {
  const { serverName, scopes, environment } = options;
  const { Compute, gcpMetadata } = library;
  if (!gcpMetadata.getGCPResidency() && !(await hasMetadataServer(environment, library)))
    throw new HostError("auth_required", `"${serverName}" needs Google credentials, and this machine has none`, {
      serverName,
      next: signInWithGoogle,
    });
  return new Compute({ ...clientOptions(options), scopes: [...scopes] });
}

/**
 * Whether the machine has a metadata server. Google's own `isAvailable` asks the same, but on many machines without one
 * it prints a `MetadataLookupWarning`.
 */
async function hasMetadataServer({ env }: Environment, { gcpMetadata }: Library): Promise<boolean> {
  const detection = env["METADATA_SERVER_DETECTION"]?.trim().toLowerCase();
  if (detection === "none" || detection === "bios-only") return false;
  if (detection === "assume-present") return true;
  // -1: one attempt. The library takes 0 for its default.
  return gcpMetadata.bulk([{ metadataKey: "instance", noResponseRetries: -1, fastFail: true }] as const).then(
    () => true,
    () => false,
  );
}

function clientOptions({ fetch }: GoogleCredentialsOptions): Pick<OAuth2ClientOptions, "transporterOptions"> {
  return {
    transporterOptions: {
      fetchImplementation: (asked, init) => fetch(asked instanceof Request ? asked.url : asked, init),
    },
  };
}

function withQuotaProject(client: AuthClient, { env }: Environment): AuthClient {
  const project = env["GOOGLE_CLOUD_QUOTA_PROJECT"];
  if (project !== undefined && project !== "") client.quotaProjectId = project;
  return client;
}

function unusable(
  { serverName, environment }: GoogleCredentialsOptions,
  file: string | undefined,
  why: string,
): HostError {
  const isNamed = file === environment.env[variable];
  return new HostError("auth_failed", `the Google credentials for "${serverName}" in ${file} cannot be used: ${why}`, {
    serverName,
    next: isNamed ? `Set ${variable} to a valid credentials file, or unset it.` : signInWithGoogle,
  });
}
