/** Reads `fairlead.servers.<name>.machineAuth`. Reports keys that are missing, and keys that exclude each other. */

import type { Node } from "../../files/json/jsonc.ts";
import { childNode, stringNode, switchOf, textListIn } from "../read/nodes.ts";
import { present } from "../schema/present.ts";
import type { MachineAuthSettings, OAuthSettings, Scope, Transport } from "./definition.ts";

const kinds = ["client_credentials", "jwt_bearer", "enterprise"] as const;
const secretMethods = ["client_secret_basic", "client_secret_post"] as const;
const services = ["gcp", "azure", "github"] as const;

/** The facts of the server's entry that decide which keys `machineAuth` needs. */
export interface MachineAuthEntry {
  readonly kind: Transport["kind"];
  readonly scope: Scope;
  /** The `oauth` settings of the entry. Undefined if `authProviderType` is not `oauth`. */
  readonly oauth: OAuthSettings | undefined;
  readonly hasOwnHeader: boolean;
}

/** The settings in `machineAuth`, or a mistake in them. `next` is the edit that corrects the mistake. */
export type ReadMachineAuth =
  | { readonly settings: MachineAuthSettings }
  | { readonly reason: string; readonly next?: string };

/** Reads `machineAuth`. Undefined if its value is `false`. */
export function readMachineAuth(node: Node, entry: MachineAuthEntry): ReadMachineAuth | undefined {
  const isSwitch = switchOf(node);
  if (isSwitch === false) return undefined;
  const unsuitable = whyNotSuitable(entry) ?? unknownKind(node);
  if (unsuitable !== undefined) return { reason: unsuitable };
  const settings = isSwitch === true ? fromEntry(entry.oauth ?? {}) : fromObject(node);
  const missing = missingIn(settings, entry, isSwitch === true ? "oauth of the entry" : "machineAuth");
  return missing ?? { settings };
}

function whyNotSuitable({ kind, oauth, hasOwnHeader }: MachineAuthEntry): string | undefined {
  if (kind === "stdio") return '"machineAuth" needs "url" or "httpUrl": a program gets its credentials from "env"';
  if (oauth === undefined) return '"machineAuth" and "authProviderType" exclude each other';
  return hasOwnHeader ? '"machineAuth" and an Authorization header exclude each other' : undefined;
}

/**
 * Returns a message if `kind` is unknown. Fairlead does not guess a misspelt kind, because the credentials could go to
 * the wrong server.
 */
function unknownKind(node: Node): string | undefined {
  const kind = childNode(node, "kind");
  const isKnown = kind === undefined || kinds.some((each) => each === stringNode(kind));
  return isKnown ? undefined : `"machineAuth" cannot be used: its "kind" must be one of ${kinds.join(", ")}`;
}

function fromEntry(oauth: OAuthSettings): MachineAuthSettings {
  const { clientId, clientSecret, issuer, tokenUrl, scopes } = oauth;
  const audience = oauth.audiences?.join(" ");
  return { kind: "client_credentials", ...present({ clientId, clientSecret, issuer, tokenUrl, scopes, audience }) };
}

function fromObject(node: Node): MachineAuthSettings {
  const text = (...path: readonly string[]): string | undefined => stringNode(childNode(node, ...path));
  const provider = childNode(node, "identityProvider");
  return {
    kind: kinds.find((kind) => kind === text("kind")) ?? "client_credentials",
    ...present({
      clientId: text("clientId"),
      clientSecret: text("clientSecret"),
      clientAuthentication: secretMethods.find((method) => method === text("clientAuthentication")),
      privateKeyFile: text("privateKeyFile"),
      privateKey: text("privateKey"),
      keyId: text("keyId"),
      assertionFile: text("assertionFile"),
      assertionEnv: text("assertionEnv"),
      assertionFrom: services.find((service) => service === text("assertionFrom")),
      tokenUrl: text("tokenUrl"),
      issuer: text("issuer"),
      audience: text("audience"),
      scopes: textListIn(node, "scopes"),
      identityProvider:
        provider &&
        present({
          issuer: text("identityProvider", "issuer"),
          tokenUrl: text("identityProvider", "tokenUrl"),
          clientId: text("identityProvider", "clientId"),
          clientSecret: text("identityProvider", "clientSecret"),
        }),
    }),
  };
}

function missingIn(
  settings: MachineAuthSettings,
  { scope }: MachineAuthEntry,
  where: string,
): { readonly reason: string; readonly next?: string } | undefined {
  const { kind, clientId, clientSecret, privateKey, privateKeyFile, issuer, tokenUrl, identityProvider } = settings;
  const proofs = given({ clientSecret, privateKeyFile, privateKey });
  const { assertionFile, assertionEnv, assertionFrom } = settings;
  const assertions = given({ assertionFile, assertionEnv, assertionFrom });
  const needs: readonly (readonly [boolean, string])[] = [
    [kind !== "jwt_bearer" && !clientId, '"clientId"'],
    [
      kind === "client_credentials" && proofs.length === 0,
      where === "machineAuth" ? '"clientSecret", "privateKeyFile" or "privateKey"' : '"clientSecret"',
    ],
    [kind === "jwt_bearer" && assertions.length === 0, '"assertionFile", "assertionEnv" or "assertionFrom"'],
    [kind === "enterprise" && assertions.length === 0, '"assertionFile" or "assertionEnv" (the ID token)'],
    [
      kind === "enterprise" && !identityProvider?.issuer && !identityProvider?.tokenUrl,
      '"identityProvider.issuer" or "identityProvider.tokenUrl"',
    ],
    [kind === "enterprise" && !identityProvider?.clientId, '"identityProvider.clientId"'],
    [proofs.length > 0 && !clientId, '"clientId"'],
  ];
  const missing = [...new Set(needs.flatMap(([isMissing, key]) => (isMissing ? [key] : [])))];
  if (missing.length > 0)
    return {
      reason: `"machineAuth" (${kind}) is incomplete: it lacks ${missing.join(" and ")}`,
      next: `Add ${missing.join(" and ")} under ${where}.`,
    };
  const several = [proofs, assertions].find(({ length }) => length > 1);
  if (several !== undefined)
    return { reason: `"machineAuth" may have only one of ${several.map((key) => `"${key}"`).join(" and ")}` };
  if (kind === "enterprise" && assertionFrom !== undefined)
    return { reason: '"machineAuth" (enterprise) needs an ID token: "assertionFrom" gives none' };
  /*
   * If `issuer` and `tokenUrl` were both absent, a workspace's server could choose the authorization server that gets
   * the user's credentials.
   */
  if (scope === "workspace" && where === "machineAuth" && issuer === undefined && tokenUrl === undefined)
    return {
      reason: '"machineAuth" of a workspace\'s entry needs "issuer" or "tokenUrl"',
      next: 'Add "issuer" under machineAuth: the workspace must not choose who gets your credentials.',
    };
  return undefined;
}

function given(keys: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(keys).flatMap(([key, value]) => (value === undefined ? [] : [key]));
}
