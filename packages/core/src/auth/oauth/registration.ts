/**
 * Finds the OAuth client for an authorization server: in the settings, as a metadata document, or in the stored
 * credentials. Otherwise registers a new one.
 */

import { parseObject, textIn } from "@fairlead/wire/json";
import { type Client, dynamicClientRegistrationRequest } from "oauth4webapi";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import type { SignInUi } from "../browser/sign-in-ui.ts";
import type { ClientAuthentication, Credentials, StoredClient } from "../store/credentials.ts";
import { parameterOf } from "./challenge.ts";
import type { SignInPlan } from "./discovery.ts";
import { sendWith } from "./endpoint-request.ts";
import { explainFailure, type Fail } from "./failure.ts";
import { isSupported, methodWithSecret } from "./metadata.ts";

/** The places where a client may already be known. */
export interface KnownClientOptions {
  readonly plan: SignInPlan;
  readonly oauth: OAuthSettings;
  /** The setting `fairlead.clientMetadataUrl`: the address of Fairlead's client metadata document. */
  readonly clientMetadataUrl?: string | undefined;
  readonly stored?: Credentials | undefined;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** The client to register, and where. */
export interface RegistrationOptions {
  readonly plan: SignInPlan;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly isDevice: boolean;
  /** True if the redirect URI is that of a web server, not of a program on the user's machine. */
  readonly isWeb?: boolean;
  readonly fetch: Fetch;
  readonly fail: Fail;
}

/** What the person must know to register a client by hand. */
export interface AskClientIdOptions extends Pick<RegistrationOptions, "plan" | "redirectUri" | "fail"> {
  readonly serverName: string;
  readonly ui: SignInUi;
  /** Why Fairlead could not register a client itself. */
  readonly why: string;
}

/** A longer registration response (in characters) is not stored as a whole. Fairlead stores only what it needs. */
const longestRegistration = 16_000;
const longestReason = 300;
const step = "client registration";

/** Returns a client that is already known, or undefined. If it has a `redirectUri`, the sign-in must use that URI. */
export function knownClient(options: KnownClientOptions): StoredClient | undefined {
  const { plan, clientMetadataUrl, stored, now } = options;
  const { clientId, clientSecret } = options.oauth;
  if (clientId !== undefined) {
    const authentication = clientSecret === undefined ? undefined : methodWithSecret(plan.server);
    return { clientId, clientSecret, authentication };
  }
  if (clientMetadataUrl !== undefined && plan.server["client_id_metadata_document_supported"] === true)
    return { clientId: clientMetadataUrl, authentication: "none" };
  // A registered client works only at the authorization server that registered it.
  if (stored?.issuer !== plan.server.issuer || stored.client.redirectUri === undefined) return undefined;
  return (stored.client.expiresAt ?? Number.POSITIVE_INFINITY) > now() ? stored.client : undefined;
}

/**
 * Asks for the ID of a client that the person has registered.
 *
 * @throws HostError `auth_failed` if there is no ID
 */
export async function askForClientId(
  { serverName, plan, redirectUri, ui, why, fail }: AskClientIdOptions,
  signal: AbortSignal,
): Promise<StoredClient> {
  const { issuer } = plan.server;
  const clientId = (await ui.askClientId?.({ serverName, issuer, redirectUri, why }, signal))?.trim() ?? "";
  if (clientId !== "") return { clientId, redirectUri };
  throw fail(step, why, {
    next: `Register a client at ${issuer}, then add its ID to "${serverName}" in settings.json: "oauth": {"clientId": "…"}`,
  });
}

/**
 * Registers a client (RFC 7591). Returns `why` if the authorization server does not register clients.
 *
 * @throws HostError `auth_failed` if the server cannot be reached or is overloaded
 */
export async function registerClient(options: RegistrationOptions): Promise<StoredClient | { readonly why: string }> {
  const { plan, redirectUri, fetch, fail } = options;
  const url = plan.server.registration_endpoint;
  if (url === undefined) return { why: `${plan.server.issuer} does not register clients automatically` };
  const asked = dynamicClientRegistrationRequest(plan.server, requestFor(options), sendWith(fetch));
  const response = await explainFailure(asked, (words, cause) =>
    fail(step, `${url} cannot be reached: ${words}`, { cause }),
  );
  const answer = parseObject(await response.text());
  const clientId = answer && textIn(answer, "client_id");
  if (!response.ok || answer === undefined || clientId === undefined) {
    const reason = answer && [textIn(answer, "error"), textIn(answer, "error_description")].filter(Boolean).join(": ");
    const why = `${url} answered ${response.status}${reason ? ` (${reason.slice(0, longestReason)})` : ""}`;
    if (response.status >= 500 || response.status === 429) throw fail(step, why);
    return { why };
  }
  const clientSecret = textIn(answer, "client_secret");
  const secretExpiry = answer["client_secret_expires_at"];
  const isShort = JSON.stringify(answer).length <= longestRegistration;
  return {
    clientId,
    redirectUri,
    clientSecret,
    authentication: clientSecret === undefined ? "none" : registeredMethod(answer["token_endpoint_auth_method"], plan),
    registration: isShort ? answer : undefined,
    // 0 means that the secret never expires.
    expiresAt: typeof secretExpiry === "number" && secretExpiry > 0 ? secretExpiry * 1000 : undefined,
  };
}

function requestFor({ plan, redirectUri, scopes, isDevice, isWeb = false }: RegistrationOptions): Partial<Client> {
  const grants = ["authorization_code", "refresh_token"];
  return {
    client_name: "Fairlead",
    application_type: isWeb ? "web" : "native",
    redirect_uris: [redirectUri],
    grant_types: isDevice ? [...grants, "urn:ietf:params:oauth:grant-type:device_code"] : grants,
    response_types: ["code"],
    token_endpoint_auth_method: isSupported(plan.server, "none") ? "none" : methodWithSecret(plan.server),
    scope: parameterOf(scopes),
  };
}

function registeredMethod(registered: unknown, plan: SignInPlan): ClientAuthentication {
  if (registered === "none" || registered === "client_secret_post" || registered === "client_secret_basic")
    return registered;
  return methodWithSecret(plan.server);
}
