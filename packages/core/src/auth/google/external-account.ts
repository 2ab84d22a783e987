/**
 * Signs in to Google as a workload that runs elsewhere (`external_account`). Exchanges that platform's token for a
 * Google token.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, textIn } from "@fairlead/wire/json";
import type { AuthClient, IdentityPoolClientOptions } from "google-auth-library";
import type { HostError } from "../../errors.ts";
import { present } from "../../settings/schema/present.ts";
import { toGoogleError } from "./google-failure.ts";
import { IdentityPoolClient } from "./google-library.ts";
import { readSubjectSource, type SubjectTokenOptions } from "./subject-source.ts";
import { subjectToken } from "./subject-token.ts";

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
