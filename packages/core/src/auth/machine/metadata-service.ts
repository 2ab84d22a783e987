/**
 * Requests a JWT about this machine from a cloud or CI service, if the setting `assertionFrom` names one. Google's and
 * Azure's services have link-local addresses, which Fairlead's `fetch` refuses by default.
 */

import { parseObject, textIn } from "@fairlead/wire/json";
import { errorMessage, parseUrl } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { createBoundedFetch } from "../../net/bounded-fetch.ts";
import type { MachineAuthSettings } from "../../settings/define/definition.ts";
import type { Environment } from "../../settings/read/paths.ts";
import type { AssertionOptions } from "./assertion.ts";

type Service = NonNullable<MachineAuthSettings["assertionFrom"]>;

interface ServiceRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON member that contains the JWT. Undefined if the whole response is the JWT. */
  readonly member?: string;
  /** True if the address is local to this machine. Such a request must not use a proxy. */
  readonly isLocal: boolean;
}

const timeout = 5_000;

/**
 * Requests the JWT. May return an empty text if the response has none.
 *
 * @throws HostError `auth_failed` if the service cannot be reached or refuses
 */
export async function requestAssertion(
  service: Service,
  { serverName, env, audience }: Pick<AssertionOptions, "serverName" | "env" | "audience">,
): Promise<string> {
  const fail = (reason: string, cause?: unknown): HostError =>
    new HostError("auth_failed", `assertion of "${serverName}" cannot be used: ${reason}`, {
      serverName,
      next: nextSteps[service],
      cause,
    });
  const request = requestFor(service, env, audience);
  if (request === undefined) throw fail(`${service} gives this process no token`);
  const { url, headers, member, isLocal } = request;
  // Without `near`, Fairlead would refuse the service's link-local address.
  const fetch = createBoundedFetch({ near: url.origin, env: isLocal ? {} : env, maxRedirects: 0, timeout });
  const response = await fetch(url, { headers, redirect: "error" }).catch((error: unknown) => {
    throw fail(`${url.origin} cannot be reached: ${errorMessage(error)}`, error);
  });
  const text = (await response.text()).trim();
  if (!response.ok) throw fail(`${url.origin} answered HTTP ${response.status}`);
  const answer = member === undefined ? undefined : parseObject(text);
  return (member === undefined ? text : answer && textIn(answer, member)) ?? "";
}

/** Returns undefined if the service's environment variables are not set. */
function requestFor(service: Service, env: Environment["env"], audience: string): ServiceRequest | undefined {
  const address = (base: string, query: Readonly<Record<string, string>>): URL => {
    if (parseUrl(base) === undefined)
      throw new HostError("auth_failed", "the environment has no valid URL of the metadata service");
    const url = new URL(base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  switch (service) {
    case "gcp": {
      const host = env["GCE_METADATA_HOST"] ?? "metadata.google.internal";
      const base = `http://${host}/computeMetadata/v1/instance/service-accounts/default/identity`;
      const url = address(base, { audience, format: "full" });
      return { url, headers: { "metadata-flavor": "Google" }, isLocal: true };
    }
    case "azure": {
      const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header = "" } = env;
      // App Service and Container Apps set `IDENTITY_ENDPOINT`. On virtual machines, the address is always the same.
      const base = endpoint ?? "http://169.254.169.254/metadata/identity/oauth2/token";
      const version = endpoint === undefined ? "2018-02-01" : "2019-08-01";
      return {
        url: address(base, { "api-version": version, resource: audience }),
        headers: endpoint === undefined ? { metadata: "true" } : { "x-identity-header": header },
        member: "access_token",
        isLocal: true,
      };
    }
    case "github": {
      const { ACTIONS_ID_TOKEN_REQUEST_URL: base, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = env;
      if (base === undefined || token === undefined) return undefined;
      const headers = { authorization: `Bearer ${token}` };
      return { url: address(base, { audience }), headers, member: "value", isLocal: false };
    }
  }
}

const nextSteps: Readonly<Record<Service, string>> = {
  gcp: "Run Fairlead on a Google Cloud machine that has a service account.",
  azure: "Run Fairlead on an Azure machine that has a managed identity.",
  github: 'Give the job "permissions: id-token: write".',
};
