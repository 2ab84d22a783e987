/** The metadata of the authorization server, at its three well-known paths. */

import { type Answer, json } from "./answer.ts";
import type { Authority, Call } from "./authority.ts";
import { jwtBearer } from "./machine-grants.ts";
import type { AuthorizationSettings } from "./settings.ts";

export function metadataPath({ metadataAt, issuerPath }: AuthorizationSettings): string | undefined {
  switch (metadataAt) {
    case "oauth":
      return `/.well-known/oauth-authorization-server${issuerPath}`;
    case "openid":
      return `/.well-known/openid-configuration${issuerPath}`;
    case "openid-appended":
      return `${issuerPath}/.well-known/openid-configuration`;
    case "nowhere":
      return undefined;
  }
}

export function answerMetadata(_call: Call, { issuer, settings }: Authority): Answer {
  const isOpenId = settings.metadataAt !== "oauth";
  return json({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...(settings.registration !== "absent" && { registration_endpoint: `${issuer}/register` }),
    ...(settings.hasRevocation && { revocation_endpoint: `${issuer}/revoke` }),
    ...(settings.hasDeviceFlow && { device_authorization_endpoint: `${issuer}/device` }),
    response_types_supported: ["code"],
    grant_types_supported: settings.grantTypes ?? [
      "authorization_code",
      "refresh_token",
      "urn:ietf:params:oauth:grant-type:device_code",
      "client_credentials",
      jwtBearer,
    ],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    ...(settings.dpop !== "off" && { dpop_signing_alg_values_supported: ["ES256"] }),
    scopes_supported: settings.scopes,
    authorization_response_iss_parameter_supported: true,
    ...(settings.acceptsMetadataDocuments && { client_id_metadata_document_supported: true }),
    ...(isOpenId && {
      jwks_uri: `${issuer}/keys`,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    }),
    ...settings.metadata,
  });
}
