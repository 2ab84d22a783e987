/**
 * Reads how Fairlead signs in to a server: the keys `authProviderType`, `oauth`, `targetAudience` and
 * `targetServiceAccount` of its entry.
 */

import type { Node } from "../../files/json/jsonc.ts";
import { childNode, stringNode, switchOf, textListIn } from "../read/nodes.ts";
import { present } from "../schema/present.ts";
import type { Authentication, OAuthSettings, Transport } from "./definition.ts";
import type { ReportProblem } from "./entry-transport.ts";

/** The values of `authProviderType`. Each provider has a short name and the name that Gemini CLI uses. */
export const AuthProviderType = {
  OAUTH: "oauth",
  GOOGLE: "google",
  SA_IMPERSONATION: "sa-impersonation",
  DYNAMIC_DISCOVERY: "dynamic_discovery",
  GOOGLE_CREDENTIALS: "google_credentials",
  SERVICE_ACCOUNT_IMPERSONATION: "service_account_impersonation",
} as const;
export type AuthProviderType = (typeof AuthProviderType)[keyof typeof AuthProviderType];

const providers: ReadonlyMap<string, Authentication["provider"]> = new Map([
  [AuthProviderType.OAUTH, "oauth"],
  [AuthProviderType.DYNAMIC_DISCOVERY, "oauth"],
  [AuthProviderType.GOOGLE, "google"],
  [AuthProviderType.GOOGLE_CREDENTIALS, "google"],
  [AuthProviderType.SA_IMPERSONATION, "sa-impersonation"],
  [AuthProviderType.SERVICE_ACCOUNT_IMPERSONATION, "sa-impersonation"],
]);

/** Reads the authentication of an entry. If the entry has a mistake, reports it and returns undefined. */
export function readAuthentication(
  entry: Node,
  kind: Transport["kind"],
  report: ReportProblem,
): Authentication | undefined {
  const node = childNode(entry, "authProviderType");
  const provider = providers.get(stringNode(node) ?? "oauth");
  if (provider === undefined) return undefined;
  if (node !== undefined && provider !== "oauth" && kind === "stdio") {
    report("error", node, `"authProviderType": "${stringNode(node)}" needs "url" or "httpUrl"`);
    return undefined;
  }
  if (provider === "sa-impersonation") return impersonation(entry, node ?? entry, report);
  for (const key of ["targetAudience", "targetServiceAccount"]) {
    const unused = childNode(entry, key);
    if (unused !== undefined)
      report("warning", unused, `"${key}" has an effect only with "authProviderType": "sa-impersonation"`);
  }
  const oauth = readOAuth(childNode(entry, "oauth"));
  if (provider === "oauth" || (oauth.scopes?.length ?? 0) > 0) return { provider, oauth };
  report("error", node ?? entry, 'Google credentials need "oauth": { "scopes": […] } as well');
  return undefined;
}

function impersonation(entry: Node, node: Node, report: ReportProblem): Authentication | undefined {
  const targetAudience = stringNode(childNode(entry, "targetAudience"));
  const targetServiceAccount = stringNode(childNode(entry, "targetServiceAccount"));
  if (targetAudience && targetServiceAccount)
    return { provider: "sa-impersonation", targetAudience, targetServiceAccount };
  const given = Object.entries({ targetAudience, targetServiceAccount });
  const missing = given.flatMap(([key, value]) => (value ? [] : [key]));
  report("error", node, `service account impersonation needs ${missing.join(" and ")}`);
  return undefined;
}

function readOAuth(oauth: Node | undefined): OAuthSettings {
  const text = (key: string): string | undefined => stringNode(childNode(oauth, key));
  return present({
    enabled: switchOf(childNode(oauth, "enabled")),
    clientId: text("clientId"),
    clientSecret: text("clientSecret"),
    authorizationUrl: text("authorizationUrl"),
    tokenUrl: text("tokenUrl"),
    issuer: text("issuer"),
    registrationUrl: text("registrationUrl"),
    scopes: textListIn(oauth, "scopes"),
    audiences: textListIn(oauth, "audiences"),
    redirectUri: text("redirectUri"),
  });
}
