/** The two documents that a sign-in starts from: what a resource says about itself (RFC 9728), and what an authorization server does (RFC 8414, OIDC). */

import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { present } from "../../settings/schema/present.ts";

export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
}

export interface ServerMetadata {
  readonly issuer: string;
  readonly authorization?: string;
  readonly token?: string;
  readonly registration?: string;
  readonly revocation?: string;
  readonly device?: string;
  /** Undefined: it does not say. */
  readonly scopes?: readonly string[];
  readonly challengeMethods?: readonly string[];
  readonly tokenAuthentication?: readonly string[];
  /** It promises `iss` in its answers (RFC 9207). */
  readonly sendsIssuer: boolean;
  /** A client's ID may be the address of a document about it. */
  readonly takesMetadataDocuments: boolean;
}

/** `absent`: nothing of that kind is there; what is there instead may be a page for people. */
export type DocumentAnswer<T> =
  | { readonly kind: "found"; readonly document: T }
  | { readonly kind: "absent"; readonly status: number };

const mostItems = 500;
const longestItem = 2_048;

export async function fetchDocument(fetch: Fetch, url: string): Promise<DocumentAnswer<JsonObject>> {
  const response = await fetch(url, { headers: { accept: "application/json" } });
  const document = parseObject(await response.text());
  return response.ok && document !== undefined
    ? { kind: "found", document }
    : { kind: "absent", status: response.status };
}

/** Undefined: it does not say which resource it is about. */
export function toResourceMetadata(document: JsonObject): ResourceMetadata | undefined {
  const resource = textIn(document, "resource");
  if (resource === undefined) return undefined;
  return {
    resource,
    authorizationServers: listIn(document, "authorization_servers") ?? [],
    scopes: listIn(document, "scopes_supported") ?? [],
  };
}

/** Undefined: it does not say whose it is. */
export function toServerMetadata(document: JsonObject): ServerMetadata | undefined {
  const issuer = textIn(document, "issuer");
  if (issuer === undefined) return undefined;
  return {
    issuer,
    ...present({
      authorization: textIn(document, "authorization_endpoint"),
      token: textIn(document, "token_endpoint"),
      registration: textIn(document, "registration_endpoint"),
      revocation: textIn(document, "revocation_endpoint"),
      device: textIn(document, "device_authorization_endpoint"),
      scopes: listIn(document, "scopes_supported"),
      challengeMethods: listIn(document, "code_challenge_methods_supported"),
      tokenAuthentication: listIn(document, "token_endpoint_auth_methods_supported"),
    }),
    sendsIssuer: document["authorization_response_iss_parameter_supported"] === true,
    takesMetadataDocuments: document["client_id_metadata_document_supported"] === true,
  };
}

function listIn(document: JsonObject, key: string): readonly string[] | undefined {
  const list = document[key];
  if (!Array.isArray(list)) return undefined;
  return list
    .slice(0, mostItems)
    .filter((item): item is string => typeof item === "string" && item !== "" && item.length <= longestItem);
}
