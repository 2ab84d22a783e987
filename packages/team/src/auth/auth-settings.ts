/** Who may use the gateway of a team: `fairlead.team.auth` in the settings. */

import {
  booleanAt,
  invalid,
  issuerAddressAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from "../settings/fields.ts";
import { type Role, roles } from "./caller.ts";

/** An issuer of access tokens, such as the company's identity provider. */
export interface IssuerSettings {
  /** Compared exactly with the claim `iss`. */
  readonly issuer: string;
  /** The values of `aud` of which a token must have one. Default: the address of the gateway's endpoint. */
  readonly audience?: readonly string[];
  /** Where the public keys are. Default: read from the issuer's metadata. */
  readonly jwksUri?: string;
  /** The claim with the user's groups, such as `groups` or `realm_access.roles`. */
  readonly groupsClaim: string;
  /** The groups whose members have a role. Everybody has the role `user`. */
  readonly groupsOf: ReadonlyMap<Role, readonly string[]>;
  /** `false`: the issuer knows no scopes of this gateway, so every token may call tools. */
  readonly checksScopes: boolean;
  /**
   * The claim that identifies a user, in access tokens and in ID tokens. It must never be given to another person, as
   * e-mail addresses are. Default: `sub`. Some issuers give each client another `sub`, and have `oid` instead.
   */
  readonly userClaim: string;
  /** How browsers log in for the pages of sign-ins. Absent: users of this issuer cannot open them. */
  readonly browser?: BrowserSettings;
  /** The number of the tenant to which the issuer's users belong. */
  readonly tenant: number;
}

/** The OAuth client with which browsers log in at an issuer. */
export interface BrowserSettings {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The scopes besides `openid`. Default: `profile`. */
  readonly scopes: readonly string[];
}

export interface AuthSettings {
  readonly issuers: readonly IssuerSettings[];
  readonly apiKeys: boolean;
  /** The networks of balancers, in CIDR notation. Only they are believed in `x-forwarded-for`. */
  readonly trustedProxies: readonly string[];
}

/**
 * Reads `fairlead.team.auth`.
 *
 * @throws HostError `settings_invalid`, naming the key
 */
export function readAuthSettings(value: unknown): AuthSettings {
  const auth = objectAt(value ?? {}, "fairlead.team.auth", ["issuers", "apiKeys", "trustedProxies"]);
  const issuers = listAt(auth["issuers"], "fairlead.team.auth.issuers").map((each, at) =>
    readIssuer(each, `fairlead.team.auth.issuers[${at}]`),
  );
  const names = issuers.map(({ issuer }) => issuer);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalid("fairlead.team.auth.issuers", `the issuer ${twice} stands there twice`);
  const apiKeys = booleanAt(auth["apiKeys"], "fairlead.team.auth.apiKeys", false);
  if (issuers.length === 0 && !apiKeys)
    throw invalid("fairlead.team.auth", "it names no issuer and no API keys, so no request could enter the gateway");
  const trustedProxies = textsAt(auth["trustedProxies"], "fairlead.team.auth.trustedProxies");
  return { issuers, apiKeys, trustedProxies };
}

function readIssuer(value: unknown, where: string): IssuerSettings {
  const keys = ["issuer", "audience", "jwksUri", "roles", "groups", "scopes", "userClaim", "browser", "tenant"];
  const entry = objectAt(value, where, keys);
  const issuer = issuerAddressAt(entry["issuer"], `${where}.issuer`);
  const named = objectAt(entry["roles"] ?? {}, `${where}.roles`, ["claim", ...roles.filter((role) => role !== "user")]);
  const groupsOf = new Map<Role, readonly string[]>();
  for (const role of roles)
    if (named[role] !== undefined) groupsOf.set(role, textsAt(named[role], `${where}.roles.${role}`));
  const jwksUri = entry["jwksUri"];
  const audience = entry["audience"];
  return {
    issuer,
    audience: audience === undefined ? undefined : textsAt(audience, `${where}.audience`),
    jwksUri: jwksUri === undefined ? undefined : issuerAddressAt(jwksUri, `${where}.jwksUri`),
    groupsClaim: textAt(entry["groups"] ?? named["claim"] ?? "groups", `${where}.groups`),
    groupsOf,
    checksScopes: booleanAt(entry["scopes"], `${where}.scopes`, true),
    userClaim: textAt(entry["userClaim"] ?? "sub", `${where}.userClaim`),
    browser: entry["browser"] === undefined ? undefined : readBrowser(entry["browser"], `${where}.browser`),
    tenant: numberAt(entry["tenant"], `${where}.tenant`, 1, 1, 2 ** 31 - 1),
  };
}

function readBrowser(value: unknown, where: string): BrowserSettings {
  const browser = objectAt(value, where, ["clientId", "clientSecret", "scopes"]);
  const { clientId, clientSecret, scopes = ["profile"] } = browser;
  return {
    clientId: textAt(clientId, `${where}.clientId`),
    clientSecret: clientSecret === undefined ? undefined : textAt(clientSecret, `${where}.clientSecret`),
    scopes: textsAt(scopes, `${where}.scopes`),
  };
}
