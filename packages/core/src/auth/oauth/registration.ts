/** Who we are to an authorization server: from the settings, by a document about us, as registered before, or registered now. */

import { parseObject, textIn } from "@fairlead/wire/json";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { present } from "../../settings/schema/present.ts";
import type { SignInUi } from "../browser/sign-in-ui.ts";
import type { ClientAuthentication, Credentials, StoredClient } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import { during, type Fail } from "./failure.ts";

export interface KnownClientOptions {
  readonly plan: SignInPlan;
  readonly oauth: OAuthSettings;
  /** `fairlead.clientMetadataUrl`: the address of a document about this client. */
  readonly clientMetadataUrl?: string | undefined;
  readonly stored?: Credentials | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface RegistrationOptions {
  readonly plan: SignInPlan;
  /** The registration endpoint. */
  readonly url: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly isDevice: boolean;
  readonly fetch: Fetch;
  readonly fail: Fail;
}

export interface AskClientIdOptions extends Pick<RegistrationOptions, "plan" | "redirectUri" | "fail"> {
  readonly serverName: string;
  readonly ui: SignInUi;
  /** That nobody gets an ID there without having one. */
  readonly why: string;
}

/** A registration is stored whole; what is longer is kept without what nobody here reads. */
const longestRegistration = 16_000;
const longestReason = 300;
const step = "the client registration";

/** Undefined: nobody knows us there yet. One with a `redirectUri` can be used only where that is listened to. */
export function knownClient({
  plan,
  oauth,
  clientMetadataUrl,
  stored,
  now,
}: KnownClientOptions): StoredClient | undefined {
  const { clientId, clientSecret } = oauth;
  if (clientId !== undefined)
    return { clientId, ...(clientSecret !== undefined && { clientSecret, authentication: methodWithSecret(plan) }) };
  if (clientMetadataUrl !== undefined && plan.metadata?.takesMetadataDocuments === true)
    return { clientId: clientMetadataUrl, authentication: "none" };
  // What was registered with one authorization server means nothing to another.
  if (stored?.issuer !== plan.issuer || stored.client.redirectUri === undefined) return undefined;
  return (stored.client.expiresAt ?? Number.POSITIVE_INFINITY) > now ? stored.client : undefined;
}

/** The last way: the person has registered us there themselves. */
export async function askForClientId(
  { serverName, plan, redirectUri, ui, why, fail }: AskClientIdOptions,
  signal: AbortSignal,
): Promise<StoredClient> {
  const { issuer } = plan;
  const clientId = (await ui.askClientId?.({ serverName, issuer, redirectUri, why }, signal))?.trim() ?? "";
  if (clientId !== "") return { clientId, redirectUri };
  throw fail(step, why, {
    next: `Register a client at ${issuer} by hand, and write its ID into the entry of "${serverName}": "oauth": {"clientId": "…"}`,
  });
}

/** RFC 7591. `why`: it was refused, which another try will not change. */
export async function registerClient(options: RegistrationOptions): Promise<StoredClient | { readonly why: string }> {
  const { plan, url, redirectUri, fetch, fail } = options;
  const asked = fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(requestFor(options)),
    redirect: "error",
  });
  const response = await during(asked, (words, cause) => fail(step, `${url} cannot be asked: ${words}`, { cause }));
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
    ...present({
      clientSecret,
      authentication:
        clientSecret === undefined ? "none" : registeredMethod(answer["token_endpoint_auth_method"], plan),
      registration: isShort ? answer : undefined,
      // 0 says that it never expires.
      expiresAt: typeof secretExpiry === "number" && secretExpiry > 0 ? secretExpiry * 1000 : undefined,
    }),
  };
}

function requestFor({ plan, redirectUri, scopes, isDevice }: RegistrationOptions): object {
  const grants = ["authorization_code", "refresh_token"];
  return {
    client_name: "Fairlead",
    application_type: "native",
    redirect_uris: [redirectUri],
    grant_types: isDevice ? [...grants, "urn:ietf:params:oauth:grant-type:device_code"] : grants,
    response_types: ["code"],
    token_endpoint_auth_method: isTaken(plan, "none") ? "none" : methodWithSecret(plan),
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  };
}

function registeredMethod(registered: unknown, plan: SignInPlan): ClientAuthentication {
  if (registered === "none" || registered === "client_secret_post" || registered === "client_secret_basic")
    return registered;
  return methodWithSecret(plan);
}

function methodWithSecret(plan: SignInPlan): ClientAuthentication {
  return !isTaken(plan, "client_secret_basic") && isTaken(plan, "client_secret_post")
    ? "client_secret_post"
    : "client_secret_basic";
}

/** Who does not say takes all. */
function isTaken({ metadata }: SignInPlan, method: ClientAuthentication): boolean {
  return metadata?.tokenAuthentication?.includes(method) ?? true;
}
