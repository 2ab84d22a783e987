/** Checks access tokens that issuers have signed (JWT). A token is checked once and kept until it expires. */

import { hash } from "node:crypto";
import type { Clock } from "@fairlead/core/clock";
import type { Fetch } from "@fairlead/core/connect";
import { isObject } from "@fairlead/wire/json";
import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import type { IssuerSettings } from "./auth-settings.ts";
import { type Caller, type Role, roles, widestScope } from "./caller.ts";
import { IssuerKeys } from "./issuer-keys.ts";

/** A checked token. */
export interface VerifiedToken extends Caller {
  /** In milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Why a token is refused, in words for the program that sent it. They never repeat the token. */
export class TokenRefused extends Error {}

/** The algorithms that issuers may sign with. */
export const algorithms: string[] = ["ES256", "RS256", "EdDSA"];
/** Clocks of issuer and gateway may differ by this many seconds. */
const clockTolerance = 30;
const longestToken = 16_384;
/** Maximum number of tokens that are cached. The one that was checked first is forgotten. */
const mostTokens = 50_000;
const mostGroups = 500;
const longestName = 512;

interface Issuer {
  readonly settings: IssuerSettings;
  readonly keys: IssuerKeys;
}

export class TokenVerifier {
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #now: () => number;
  readonly #onVerified: (token: VerifiedToken) => void;
  /** By the digest of token and audience. */
  readonly #cached = new Map<string, VerifiedToken>();

  /** @param now The time in milliseconds since 1970. */
  constructor(
    issuers: readonly IssuerSettings[],
    {
      fetchFor,
      clock,
      now,
      onVerified = () => undefined,
    }: {
      readonly fetchFor: (issuer: string) => Fetch;
      readonly clock: Pick<Clock, "now">;
      readonly now: () => number;
      /** Called with each token that was not cached. */
      readonly onVerified?: (token: VerifiedToken) => void;
    },
  ) {
    this.#now = now;
    this.#onVerified = onVerified;
    this.#issuers = new Map(
      issuers.map((settings) => {
        const { issuer } = settings;
        return [issuer, { settings, keys: new IssuerKeys(settings, fetchFor(issuer), clock) }];
      }),
    );
  }

  /**
   * Checks a token for an endpoint.
   *
   * @param resources The address of the endpoint, and of those that contain it. A token for one of them is accepted.
   * @throws TokenRefused
   * @throws HostError `unreachable` if the issuer's keys cannot be read
   */
  async verify(token: string, resources: readonly string[]): Promise<VerifiedToken> {
    if (token.length > longestToken) throw new TokenRefused("the token is too long");
    const digest = hash("sha256", `${resources[0]} ${token}`, "base64url");
    const cached = this.#cached.get(digest);
    if (cached !== undefined && cached.expiresAt > this.#now()) return cached;
    this.#cached.delete(digest);
    const verified = await this.#check(token, resources);
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined && this.#cached.size >= mostTokens) this.#cached.delete(oldest);
    this.#cached.set(digest, verified);
    this.#onVerified(verified);
    return verified;
  }

  async #check(token: string, resources: readonly string[]): Promise<VerifiedToken> {
    const issuer = this.#issuers.get(issuerOf(token));
    if (issuer === undefined) throw new TokenRefused("the token is from an issuer that this gateway does not accept");
    const { settings, keys } = issuer;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys.keyOf, {
        algorithms,
        issuer: settings.issuer,
        audience: [...(settings.audience ?? resources)],
        clockTolerance,
        currentDate: new Date(this.#now()),
        requiredClaims: ["sub", "exp", "iat"],
      });
      // A logout token or another signed statement is no access token, although it has the right audience.
      if (!/^(?:application\/)?(?:at\+jwt|jwt)$/i.test(protectedHeader.typ ?? "jwt"))
        throw new TokenRefused(`the token has the type ${protectedHeader.typ}, not at+jwt`);
      return toVerified(payload, settings);
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new TokenRefused(reasonOf(error));
      throw error;
    }
  }
}

/** The issuer that the token names. The signature is not checked yet: only the issuer's own keys can confirm it. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    throw new TokenRefused("the token is no JWT");
  }
}

function toVerified(payload: JWTPayload, settings: IssuerSettings): VerifiedToken {
  const { exp = 0, iat = 0 } = payload;
  const user = userIn(payload, settings);
  if (user === undefined)
    throw new TokenRefused(`the token's claim "${settings.userClaim}" is empty, too long or has control characters`);
  const groups = [...new Set(textsIn(payload, settings.groupsClaim))].sort().slice(0, mostGroups);
  const client = [payload["client_id"], payload["azp"]].find(isName) ?? "unknown";
  return {
    owner: { tenant: settings.tenant, principal: `${settings.issuer}#${user}` },
    groups,
    roles: rolesOf(groups, settings),
    scope: settings.checksScopes ? widestScope(textsIn(payload, "scope").concat(textsIn(payload, "scp"))) : "mcp:call",
    client,
    issuedAt: iat * 1000,
    expiresAt: exp * 1000,
  };
}

/** The user in a token of an issuer. Undefined if the claim is missing or unusable. */
export function userIn(payload: JWTPayload, { userClaim }: Pick<IssuerSettings, "userClaim">): string | undefined {
  const user = payload[userClaim];
  return isName(user) ? user : undefined;
}

function rolesOf(groups: readonly string[], { groupsOf }: IssuerSettings): ReadonlySet<Role> {
  return new Set(
    roles.filter((role) => role === "user" || groupsOf.get(role)?.some((group) => groups.includes(group))),
  );
}

/** The names in a claim: a list, or a text with spaces between them. Dots in `path` lead into objects. */
function textsIn(payload: JWTPayload, path: string): readonly string[] {
  let value: unknown = payload;
  for (const name of Object.hasOwn(payload, path) ? [path] : path.split("."))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  const found = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  return found.filter(isName);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= longestName && !/\p{C}/u.test(value);
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "the token has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "aud") return "the token was issued for another resource";
    return `the token's claim "${error.claim}" is missing or not accepted`;
  }
  return "the token's signature cannot be verified";
}
