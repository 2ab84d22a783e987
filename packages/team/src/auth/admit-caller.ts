/**
 * Accepts or refuses requests to the gateway of a team: an OAuth resource server (RFC 9728, RFC 6750) with tokens of the
 * settings' issuers, and API keys.
 */

import { HostError } from "@fairlead/core";
import type { HttpEntry, HttpRefusal } from "@fairlead/wire/serve";
import { type ApiKeyVerifier, isApiKey, networksOf } from "./api-key-verifier.ts";
import { type Caller, type GrantedScope, includesScope, scopeOf, scopes } from "./caller.ts";
import type { RevokedUsers } from "./revoked-users.ts";
import { TokenRefused, type TokenVerifier } from "./token-verifier.ts";

export interface CallersOptions {
  /** The public address of the gateway, such as `https://mcp.example`. */
  readonly url: string;
  /** Absent: no issuer is configured. */
  readonly tokens?: TokenVerifier | undefined;
  /** Absent: API keys are off. */
  readonly keys?: ApiKeyVerifier | undefined;
  readonly revoked: RevokedUsers;
  readonly issuers: readonly string[];
  readonly trustedProxies: readonly string[];
}

export class Callers {
  readonly #options: CallersOptions;
  readonly #isProxy: (address: string | undefined) => boolean;

  constructor(options: CallersOptions) {
    this.#options = options;
    this.#isProxy = networksOf(options.trustedProxies, "fairlead.team.auth.trustedProxies");
  }

  /**
   * Finds out who sends a request.
   *
   * @param needed The scope without which nothing at the endpoint can be used.
   */
  async identify(entry: HttpEntry, needed: GrantedScope = "mcp:read"): Promise<Caller | HttpRefusal> {
    const [, token] = /^Bearer +(\S+)$/i.exec(entry.headers.authorization ?? "") ?? [];
    if (token === undefined)
      return this.#unauthorized(entry.path, undefined, "the request has no header Authorization: Bearer TOKEN");
    try {
      const caller = isApiKey(token) ? await this.#keyed(token, entry) : await this.#signedIn(token, entry);
      return includesScope(caller.scope, needed) ? caller : this.missingScope(entry.path, needed);
    } catch (error) {
      if (error instanceof TokenRefused) return this.#unauthorized(entry.path, "invalid_token", error.message);
      if (error instanceof HostError && error.code === "unreachable")
        return { status: 503, headers: { "retry-after": "5" }, message: "your token cannot be checked now: try again" };
      throw error;
    }
  }

  /** Refuses a method for which the caller's scope is not enough. The client then asks its user for more (step-up). */
  refusalOf({ scope }: Caller, path: string): (method: string) => HttpRefusal | undefined {
    return (method) => {
      const needed = scopeOf(method);
      return includesScope(scope, needed) ? undefined : this.missingScope(path, needed);
    };
  }

  /** The address from which the request came, seen through the balancers that the settings name. */
  addressOf({ headers, remoteAddress }: Pick<HttpEntry, "headers" | "remoteAddress">): string | undefined {
    if (!this.#isProxy(remoteAddress)) return remoteAddress;
    const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
    const hops = forwarded.map((hop) => hop.trim()).filter((hop) => hop !== "");
    return hops.findLast((hop) => !this.#isProxy(hop)) ?? hops[0] ?? remoteAddress;
  }

  /** The metadata of the endpoint at `path` (RFC 9728); undefined if there is none at this well-known path. */
  metadataAt(path: string): Readonly<Record<string, unknown>> | undefined {
    const [, endpoint] = /^\/\.well-known\/oauth-protected-resource(\/mcp(?:\/[^/]+)?)?$/.exec(path) ?? [];
    if (!path.startsWith("/.well-known/oauth-protected-resource") || (endpoint === undefined && !isBare(path)))
      return undefined;
    return {
      resource: this.#resource(endpoint ?? "/mcp"),
      authorization_servers: this.#options.issuers,
      scopes_supported: scopes.filter((scope) => scope !== "mcp:admin"),
      bearer_methods_supported: ["header"],
      resource_name: "Fairlead",
    };
  }

  missingScope(path: string, needed: GrantedScope): HttpRefusal {
    return {
      status: 403,
      headers: { "www-authenticate": this.#challenge(path, "insufficient_scope", needed) },
      message: `your token lacks the scope ${needed}`,
    };
  }

  async #keyed(token: string, entry: HttpEntry): Promise<Caller> {
    const caller = await this.#options.keys?.verify(token, this.addressOf(entry));
    if (caller === undefined)
      throw new TokenRefused("the API key is unknown, revoked, expired or not for this network");
    return caller;
  }

  async #signedIn(token: string, { path }: HttpEntry): Promise<Caller> {
    const { tokens, revoked } = this.#options;
    if (tokens === undefined) throw new TokenRefused("this gateway accepts API keys only");
    const caller = await tokens.verify(token, [...new Set([this.#resource(path), this.#resource("/mcp")])]);
    if (revoked.has(caller.owner, caller.issuedAt)) throw new TokenRefused("the user's tokens were revoked");
    return caller;
  }

  #unauthorized(path: string, error: string | undefined, message: string): HttpRefusal {
    return { status: 401, headers: { "www-authenticate": this.#challenge(path, error, "mcp:call") }, message };
  }

  /** All scopes up to the needed one are named at once, so that a client asks its user only once. */
  #challenge(path: string, error: string | undefined, needed: GrantedScope): string {
    const wanted = scopes.slice(0, scopes.indexOf(needed) + 1).join(" ");
    const metadata = `${this.#options.url}/.well-known/oauth-protected-resource${endpointOf(path)}`;
    const parts = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      `resource_metadata="${metadata}"`,
      `scope="${wanted}"`,
    ];
    return `Bearer ${parts.join(", ")}`;
  }

  #resource(path: string): string {
    return `${this.#options.url}${endpointOf(path)}`;
  }
}

function isBare(path: string): boolean {
  return path === "/.well-known/oauth-protected-resource";
}

/** The endpoint of a path. Anything else than a server's plain name is part of no address that is sent back. */
function endpointOf(path: string): string {
  return /^\/mcp\/[A-Za-z0-9._~%-]+$/.test(path) ? path : "/mcp";
}
