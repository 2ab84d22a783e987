/**
 * Signs in to Google as a workload that runs elsewhere (`external_account`). Exchanges that platform's token for a
 * Google token.
 */

import { resolve } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import type { AuthClient, IdentityPoolClientOptions } from "google-auth-library";
import { HostError } from "../../errors.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import { present } from "../../settings/schema/present.ts";
import { toGoogleError } from "./google-failure.ts";
import { IdentityPoolClient } from "./google-library.ts";
import {
  metadataText,
  originOf,
  readSubjectSource,
  type SubjectSource,
  type SubjectTokenError,
  type SubjectTokenOptions,
} from "./subject-source.ts";

/** The scopes to request, and how to send requests and report problems. */
export interface ExternalAccountOptions extends Pick<SubjectTokenOptions, "serverName" | "environment"> {
  /** Makes Google's library send its requests through Fairlead's `fetch`. */
  readonly shared: Pick<IdentityPoolClientOptions, "transporterOptions">;
  readonly scopes: readonly string[];
  /** Returns the error for a credentials file that cannot be used. */
  readonly unusable: (why: string) => HostError;
}

/**
 * Returns Google's client for the credentials in `json`.
 *
 * @throws HostError `auth_failed` if the credentials file cannot be used
 */
export function openExternalAccount(json: JsonObject, options: ExternalAccountOptions): AuthClient {
  const { shared, scopes, unusable, ...rest } = options;
  const [audience, tokenType] = [textIn(json, "audience"), textIn(json, "subject_token_type")];
  if (audience === undefined || tokenType === undefined)
    throw unusable('"audience" or "subject_token_type" is missing');
  const source = readSubjectSource(json["credential_source"]);
  if (source.kind === "unsupported") throw unusable(source.reason);
  const lifetime = isObject(json["service_account_impersonation"])
    ? json["service_account_impersonation"]["token_lifetime_seconds"]
    : undefined;
  const impersonation = textIn(json, "service_account_impersonation_url");
  const account = /serviceAccounts\/([^/:]+):generateAccessToken$/.exec(impersonation ?? "")?.[1];
  const workload = { ...rest, audience, tokenType, account };
  return new WorkloadClient(
    {
      ...shared,
      ...present({
        service_account_impersonation_url: impersonation,
        token_url: textIn(json, "token_url"),
        client_id: textIn(json, "client_id"),
        client_secret: textIn(json, "client_secret"),
        workforce_pool_user_project: textIn(json, "workforce_pool_user_project"),
        quota_project_id: textIn(json, "quota_project_id"),
        universe_domain: textIn(json, "universe_domain"),
        service_account_impersonation: typeof lifetime === "number" ? { token_lifetime_seconds: lifetime } : undefined,
      }),
      audience,
      subject_token_type: tokenType,
      subject_token_supplier: { getSubjectToken: () => subjectToken(source, workload) },
      scopes: [...scopes],
    },
    (error) => toGoogleError(error, { serverName: options.serverName, isWorkload: true }),
  );
}

/**
 * Google's client, but it exchanges tokens through Fairlead's `fetch`, and its errors do not ask a person to sign in.
 */
class WorkloadClient extends IdentityPoolClient {
  readonly #explain: (error: unknown) => HostError;

  constructor(options: IdentityPoolClientOptions, explain: (error: unknown) => HostError) {
    super(options);
    this.#explain = explain;
    // Without this line, Google's library would exchange tokens with its own `fetch`.
    this.stsCredential["transporter"] = this.transporter;
  }

  protected override async refreshAccessTokenAsync() {
    try {
      return await super.refreshAccessTokenAsync();
    } catch (error) {
      throw this.#explain(error);
    }
  }
}

/**
 * Returns the token. Reads it again for each call.
 *
 * @throws HostError `auth_failed` if the source gives no token
 */
async function subjectToken(source: SubjectSource, options: SubjectTokenOptions): Promise<string> {
  const { serverName, environment } = options;
  const fail: SubjectTokenError = (why, next = "Check the credentials file of this workload.") =>
    new HostError("auth_failed", `"${serverName}" has no subject token for Google: ${why}`, { serverName, next });
  switch (source.kind) {
    case "file": {
      const found = await readText(resolve(environment.cwd, source.file), limits.fetchedBytes);
      if (found.kind === "text") return tokenIn(found.text, source.field, source.file, fail);
      throw fail(`${source.file} ${found.kind === "absent" ? "does not exist" : `cannot be read: ${found.reason}`}`);
    }
    case "url": {
      const text = await metadataText(source.url, { headers: source.headers }, environment, fail);
      return tokenIn(text, source.field, originOf(source.url), fail);
    }
    case "aws": {
      const { awsSubjectToken } = await import("./aws-subject-token.ts");
      return awsSubjectToken(source, options, fail);
    }
    case "program": {
      const { programSubjectToken } = await import("./program-subject-token.ts");
      return programSubjectToken(source, options, fail);
    }
  }
}

function tokenIn(text: string, field: string | undefined, where: string, fail: SubjectTokenError): string {
  const token = field === undefined ? text.trim() : textIn(parseObject(text) ?? {}, field);
  if (token === undefined || token === "")
    throw fail(`${where} contains no token${field === undefined ? "" : ` in "${field}"`}`);
  return token;
}
