/**
 * Writes credentials as JSON, and reads them. The stored text may be damaged, or come from another version of Fairlead.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject, textIn } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import type { ClientAuthentication, Credentials, StoredClient, StoredTokens } from "./credentials.ts";

const authentications: readonly ClientAuthentication[] = ["none", "client_secret_basic", "client_secret_post"];

/** Returns the URL in the form under which credentials are stored. Undefined if it is not http(s). */
export function canonicalServerUrl(serverUrl: string): string | undefined {
  if (parseUrl(serverUrl) === undefined) return undefined;
  const url = new URL(serverUrl);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.hash = "";
  return url.href;
}

/** Returns credentials as JSON. The text contains secrets. */
export function writeCredentials(credentials: Credentials): string {
  return JSON.stringify(credentials);
}

/** Returns stored credentials, or undefined if the text is damaged. Drops unknown members. */
export function readCredentials(text: string): Credentials | undefined {
  const record = parseObject(text);
  if (record === undefined) return undefined;
  const [serverName, serverUrl] = [textIn(record, "serverName"), textIn(record, "serverUrl")];
  const [resource, issuer] = [textIn(record, "resource"), textIn(record, "issuer")];
  const [client, endpoints] = [readClient(record["client"]), readEndpoints(record["endpoints"])];
  const tokens = record["tokens"] === undefined ? undefined : readTokens(record["tokens"]);
  if (tokens === undefined && record["tokens"] !== undefined) return undefined;
  if (serverName === undefined || serverUrl === undefined || resource === undefined || issuer === undefined)
    return undefined;
  if (client === undefined || endpoints === undefined) return undefined;
  return {
    serverName,
    serverUrl,
    resource,
    issuer,
    client,
    endpoints,
    pin: textIn(record, "pin"),
    account: textIn(record, "account"),
    tokens,
    scopes: readTexts(record["scopes"]),
    audiences: readTexts(record["audiences"]),
    dpopKey: textIn(record, "dpopKey"),
    machine: readMachine(record["machine"]),
  };
}

/** Returns a stored OAuth client, or undefined if the value is damaged. */
export function readClient(value: unknown): StoredClient | undefined {
  if (!isObject(value)) return undefined;
  const clientId = textIn(value, "clientId");
  if (clientId === undefined) return undefined;
  return {
    clientId,
    clientSecret: textIn(value, "clientSecret"),
    authentication: authentications.find((one) => one === value["authentication"]),
    registration: isObject(value["registration"]) ? value["registration"] : undefined,
    redirectUri: textIn(value, "redirectUri"),
    expiresAt: readMoment(value, "expiresAt"),
  };
}

function readTokens(value: unknown): StoredTokens | undefined {
  if (!isObject(value)) return undefined;
  const accessToken = textIn(value, "accessToken");
  if (accessToken === undefined) return undefined;
  return {
    accessToken,
    tokenType: textIn(value, "tokenType") ?? "Bearer",
    obtainedAt: readMoment(value, "obtainedAt") ?? 0,
    refreshToken: textIn(value, "refreshToken"),
    scope: textIn(value, "scope"),
    idToken: textIn(value, "idToken"),
    expiresAt: readMoment(value, "expiresAt"),
  };
}

function readEndpoints(value: unknown): Credentials["endpoints"] | undefined {
  if (!isObject(value)) return undefined;
  const token = textIn(value, "token");
  if (token === undefined) return undefined;
  return {
    token,
    revocation: textIn(value, "revocation"),
    authorization: textIn(value, "authorization"),
    device: textIn(value, "device"),
  };
}

function readMachine(value: unknown): Credentials["machine"] | undefined {
  const assertionAudience = isObject(value) ? textIn(value, "assertionAudience") : undefined;
  if (!isObject(value) || assertionAudience === undefined) return undefined;
  return { assertionAudience, signingAlgorithms: readTexts(value["signingAlgorithms"]) };
}

function readTexts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  return items.every((item) => typeof item === "string") ? items : undefined;
}

function readMoment(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
