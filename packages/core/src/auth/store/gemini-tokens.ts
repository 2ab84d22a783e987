/** Reads the sign-ins that Gemini CLI has stored. Never changes that file. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, parseJson, textIn } from "@fairlead/wire/json";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import { webUrl } from "../../net/open-url.ts";
import type { Credentials } from "./credentials.ts";
import { canonicalServerUrl } from "./stored-credentials.ts";

const mostRecords = 1_000;

/**
 * Returns the usable sign-ins by server URL. Empty if the file is missing or invalid. `now`: milliseconds since 1970.
 */
export async function readGeminiTokens(file: string, now: number): Promise<ReadonlyMap<string, Credentials>> {
  const found = await readText(file, limits.settingsBytes);
  const records = found.kind === "text" ? listOf(parseJson(found.text)).slice(0, mostRecords) : [];
  const all = new Map<string, Credentials>();
  for (const record of records) {
    const credentials = toCredentials(record, now);
    if (credentials !== undefined) all.set(credentials.serverUrl, credentials);
  }
  return all;
}

/** Returns undefined if the record is incomplete, or if it has expired and cannot be refreshed. */
function toCredentials(record: unknown, now: number): Credentials | undefined {
  if (!isObject(record) || !isObject(record["token"])) return undefined;
  const token = record["token"];
  const [serverName, clientId] = [textIn(record, "serverName"), textIn(record, "clientId")];
  const [givenUrl, tokenUrl] = [urlIn(record, "mcpServerUrl"), urlIn(record, "tokenUrl")];
  const serverUrl = givenUrl && canonicalServerUrl(givenUrl.href);
  const accessToken = textIn(token, "accessToken");
  if (serverName === undefined || clientId === undefined || serverUrl === undefined) return undefined;
  if (tokenUrl === undefined || accessToken === undefined) return undefined;
  const refreshToken = textIn(token, "refreshToken");
  const expiresAt = momentIn(token["expiresAt"]);
  if (refreshToken === undefined && expiresAt !== undefined && expiresAt <= now) return undefined;
  return {
    serverName,
    serverUrl,
    resource: serverUrl,
    // Gemini CLI does not store the issuer, so the token endpoint's origin stands for it.
    issuer: tokenUrl.origin,
    client: { clientId },
    endpoints: { token: tokenUrl.href },
    tokens: {
      accessToken,
      tokenType: textIn(token, "tokenType") ?? "Bearer",
      obtainedAt: momentIn(record["updatedAt"]) ?? 0,
      refreshToken,
      expiresAt,
      scope: textIn(token, "scope"),
    },
  };
}

function urlIn(record: JsonObject, name: string): URL | undefined {
  const text = textIn(record, name);
  return text === undefined ? undefined : webUrl(text);
}

function momentIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
