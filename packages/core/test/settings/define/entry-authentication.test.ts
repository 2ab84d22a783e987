import { expect, test } from "vitest";
import { parseJsonc } from "../../../src/files/json/jsonc.ts";
import type { Transport } from "../../../src/settings/define/definition.ts";
import { AuthProviderType, readAuthentication } from "../../../src/settings/define/entry-authentication.ts";

/** Reads an entry. A report is its severity, the text that it points at, and its message. */
function read(entry: unknown, kind: Transport["kind"] = "http") {
  const text = JSON.stringify(entry);
  const { root } = parseJsonc(text);
  if (root === undefined) throw new Error("the text holds no value");
  const reports: string[] = [];
  const authentication = readAuthentication(root, kind, (severity, { offset, length }, message) => {
    reports.push(`${severity} at ${text.slice(offset, offset + length)}: ${message}`);
  });
  return { authentication, reports };
}

const target = { targetAudience: "a", targetServiceAccount: "b" };
const scopes = { oauth: { scopes: ["s"] } };

test("each provider has a short name and the name of Gemini CLI", () => {
  expect(AuthProviderType).toEqual({
    OAUTH: "oauth",
    GOOGLE: "google",
    SA_IMPERSONATION: "sa-impersonation",
    DYNAMIC_DISCOVERY: "dynamic_discovery",
    GOOGLE_CREDENTIALS: "google_credentials",
    SERVICE_ACCOUNT_IMPERSONATION: "service_account_impersonation",
  });
});

test.each<[object, object | undefined]>([
  [{}, { provider: "oauth", oauth: {} }],
  [{ authProviderType: "oauth" }, { provider: "oauth", oauth: {} }],
  [{ authProviderType: "dynamic_discovery" }, { provider: "oauth", oauth: {} }],
  [
    { authProviderType: "google", ...scopes },
    { provider: "google", ...scopes },
  ],
  [
    { authProviderType: "google_credentials", ...scopes },
    { provider: "google", ...scopes },
  ],
  [
    { authProviderType: "sa-impersonation", ...target },
    { provider: "sa-impersonation", ...target },
  ],
  [
    { authProviderType: "service_account_impersonation", ...target },
    { provider: "sa-impersonation", ...target },
  ],
  [{ authProviderType: "other" }, undefined],
])("the user signs in with %j as %j", (entry, authentication) => {
  expect(read(entry)).toEqual({ authentication, reports: [] });
});

test("a program needs no sign-in, so the usual provider is fine", () => {
  for (const entry of [{}, { authProviderType: "oauth" }])
    expect(read(entry, "stdio")).toEqual({ authentication: { provider: "oauth", oauth: {} }, reports: [] });
  expect(read({ authProviderType: "google", ...scopes }, "stdio")).toEqual({
    authentication: undefined,
    reports: ['error at "google": "authProviderType": "google" needs "url" or "httpUrl"'],
  });
});

const noScopes = 'error at "google": Google credentials need "oauth": { "scopes": […] } as well';
const needs = (what: string) => `error at "sa-impersonation": service account impersonation needs ${what}`;
const unused = (value: string, key: string) =>
  `warning at ${value}: "${key}" has an effect only with "authProviderType": "sa-impersonation"`;

test.each<[object, object | undefined, readonly string[]]>([
  [{ authProviderType: "google" }, undefined, [noScopes]],
  [{ authProviderType: "google", oauth: { scopes: [] } }, undefined, [noScopes]],
  [{ authProviderType: "sa-impersonation" }, undefined, [needs("targetAudience and targetServiceAccount")]],
  [{ authProviderType: "sa-impersonation", targetAudience: "a" }, undefined, [needs("targetServiceAccount")]],
  [{ authProviderType: "sa-impersonation", targetServiceAccount: "b" }, undefined, [needs("targetAudience")]],
  [target, { provider: "oauth", oauth: {} }, [unused('"a"', "targetAudience"), unused('"b"', "targetServiceAccount")]],
])("the user reads what is wrong in %j", (entry, authentication, reports) => {
  expect(read(entry)).toEqual({ authentication, reports });
});
