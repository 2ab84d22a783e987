/** Reads the metadata of a protected resource (RFC 9728) and of an authorization server (RFC 8414, OpenID Connect). */

import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import type { AuthorizationServer } from "oauth4webapi";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { ClientAuthentication } from "../store/credentials.ts";

/** What an MCP server's metadata says about sign-in. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
  /** True if the server accepts only tokens that are bound to a key (DPoP, RFC 9449). */
  readonly isDpop: boolean;
}

/** A fetched document. `absent` means that the response is an error, or not a JSON object. */
export type DocumentAnswer =
  | { readonly kind: "found"; readonly document: JsonObject }
  | { readonly kind: "absent"; readonly status: number };

const mostItems = 500;
const longestItem = 2_048;

/** Fetches a JSON document. Rejects with the error of `fetch`. */
export async function fetchDocument(fetch: Fetch, url: string): Promise<DocumentAnswer> {
  const response = await fetch(url, { headers: { accept: "application/json" } });
  const document = parseObject(await response.text());
  return response.ok && document !== undefined
    ? { kind: "found", document }
    : { kind: "absent", status: response.status };
}

/** Reads an MCP server's metadata. Returns undefined if `resource` is missing. */
export function toResourceMetadata(document: JsonObject): ResourceMetadata | undefined {
  const resource = textIn(document, "resource");
  if (resource === undefined) return undefined;
  return {
    resource,
    authorizationServers: listIn(document, "authorization_servers") ?? [],
    scopes: listIn(document, "scopes_supported") ?? [],
    isDpop: document["dpop_bound_access_tokens_required"] === true,
  };
}

/**
 * Reads an authorization server's metadata. Drops members that have the wrong type, and members that Fairlead does not
 * use. Returns undefined if `issuer` is missing.
 */
export function toServerMetadata(document: JsonObject): AuthorizationServer | undefined {
  const issuer = textIn(document, "issuer");
  if (issuer === undefined) return undefined;
  return {
    issuer,
    authorization_endpoint: textIn(document, "authorization_endpoint"),
    token_endpoint: textIn(document, "token_endpoint"),
    registration_endpoint: textIn(document, "registration_endpoint"),
    revocation_endpoint: textIn(document, "revocation_endpoint"),
    device_authorization_endpoint: textIn(document, "device_authorization_endpoint"),
    scopes_supported: listIn(document, "scopes_supported"),
    code_challenge_methods_supported: listIn(document, "code_challenge_methods_supported"),
    token_endpoint_auth_methods_supported: listIn(document, "token_endpoint_auth_methods_supported"),
    token_endpoint_auth_signing_alg_values_supported: listIn(
      document,
      "token_endpoint_auth_signing_alg_values_supported",
    ),
    authorization_response_iss_parameter_supported: document["authorization_response_iss_parameter_supported"] === true,
    client_id_metadata_document_supported: document["client_id_metadata_document_supported"] === true,
  };
}

/** Returns how to send the secret: in the header `Authorization`, or in the form if only that is supported. */
export function methodWithSecret(server: AuthorizationServer): "client_secret_basic" | "client_secret_post" {
  return !isSupported(server, "client_secret_basic") && isSupported(server, "client_secret_post")
    ? "client_secret_post"
    : "client_secret_basic";
}

/** Whether the server supports a method. If the metadata lists no methods, every method counts as supported. */
export function isSupported(server: AuthorizationServer, method: ClientAuthentication): boolean {
  return server.token_endpoint_auth_methods_supported?.includes(method) ?? true;
}

function listIn(document: JsonObject, key: string): string[] | undefined {
  const list = document[key];
  if (!Array.isArray(list)) return undefined;
  return list
    .slice(0, mostItems)
    .filter((item): item is string => typeof item === "string" && item !== "" && item.length <= longestItem);
}

/** Returns where an MCP server's metadata may be (RFC 9728 §3.1): for its path, then for its origin. */
export function resourceMetadataUrls(serverUrl: string): readonly string[] {
  const { origin, pathname, search } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const path = withoutSlash(pathname);
  return path === "" ? [root] : [`${root}${path}${search}`, root];
}

/**
 * Returns where an authorization server's metadata may be: first as in RFC 8414 §3.1, then as in OpenID Connect
 * Discovery.
 */
export function serverMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = withoutSlash(pathname);
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** Returns the `resource` of a server without metadata: its URL without query, fragment and last slash. */
export function resourceOf(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return `${origin}${withoutSlash(pathname)}`;
}

/**
 * Whether the server belongs to the resource: same origin, and the server's path is the resource's path or below it.
 */
export function covers(resource: string, serverUrl: string): boolean {
  if (parseUrl(resource) === undefined) return false;
  const [whole, part] = [new URL(resource), new URL(serverUrl)];
  if (whole.origin !== part.origin || whole.username !== "" || whole.password !== "") return false;
  if (whole.search !== "" && whole.search !== part.search) return false;
  return `${withoutSlash(part.pathname)}/`.startsWith(`${withoutSlash(whole.pathname)}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
