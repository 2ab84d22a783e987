/**
 * Logs a browser in to the gateway at one of the company's issuers (OpenID Connect: authorization code with PKCE). The
 * pages for sign-ins need it: without it, a link that is sent to a colleague would bind the colleague's account to the
 * sender's user.
 */

import { createHash, randomBytes } from "node:crypto";
import { type Clock, HostError } from "@fairlead/core";
import { codeIn, createFail, fetchServerMetadata, reasonIn, requestTokens } from "@fairlead/core/auth";
import type { Fetch } from "@fairlead/core/connect";
import { textIn } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { BrowserSettings, IssuerSettings } from "../auth/auth-settings.ts";
import { IssuerKeys } from "../auth/issuer-keys.ts";
import { algorithms, userIn } from "../auth/token-verifier.ts";
import type { ConsumedStore } from "../store/consumed.ts";
import type { Owner } from "../store/owner.ts";
import { cookie, cookieIn } from "./browser-session.ts";
import type { EncryptedValues } from "./encrypted-values.ts";

export interface BrowserLoginsOptions {
  readonly issuers: readonly IssuerSettings[];
  /** The address to which issuers send the browser back. It must be registered there. */
  readonly redirectUri: string;
  readonly encryption: EncryptedValues;
  readonly consumed: ConsumedStore;
  /** Returns the `fetch` for an issuer. It must not follow redirects. */
  readonly fetchFor: (issuer: string) => Fetch;
  readonly clock: Pick<Clock, "now">;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** A browser that has just logged in. */
export interface LoggedIn {
  readonly owner: Owner;
  readonly name: string;
  /** The path of the gateway at which the login began. */
  readonly returnTo: string;
  /** Removes the cookie of the login. */
  readonly cookie: string;
}

interface LoginIssuer {
  readonly settings: IssuerSettings;
  readonly browser: BrowserSettings;
  readonly keys: IssuerKeys;
  readonly fetch: Fetch;
}

/** Clocks of issuer and gateway may differ by this many seconds. */
const clockTolerance = 30;
const longestName = 200;
/** The issuer's metadata is read again after this many milliseconds; after a failure, after `pause`. */
const fresh = 600_000;
const pause = 5_000;
/** Maximum number of logins that one browser has begun. Each has a cookie, and headers have a limit. */
const mostLogins = 4;
const loginCookie = /^(__Host-fairlead-login-[0-9a-f]{16})=/;

export class BrowserLogins {
  readonly #options: BrowserLoginsOptions;
  readonly #issuers: ReadonlyMap<string, LoginIssuer>;
  readonly #metadata = new Map<string, { readonly metadata: Promise<LoginMetadata>; readAt: number }>();

  constructor(options: BrowserLoginsOptions) {
    const { fetchFor, clock } = options;
    this.#options = options;
    this.#issuers = new Map(
      options.issuers.flatMap((settings) => {
        const { issuer, browser } = settings;
        const fetch = fetchFor(issuer);
        const keys = new IssuerKeys(settings, fetch, clock);
        return browser === undefined ? [] : [[issuer, { settings, browser, keys, fetch }] as const];
      }),
    );
  }

  /** The issuers at which a browser can log in. */
  get issuers(): readonly string[] {
    return [...this.#issuers.keys()];
  }

  /** Whether this user can log in with a browser. API keys and users of other issuers cannot. */
  canLogIn({ principal }: Owner): boolean {
    return this.issuers.some((issuer) => principal.startsWith(`${issuer}#`));
  }

  /**
   * Begins a login. Returns the address of the issuer's page, and the cookie without which the login cannot end. Removes
   * the cookies of old logins.
   *
   * @param given The browser's header `Cookie`.
   * @throws HostError `auth_failed` if the issuer's metadata cannot be read
   */
  async begin(
    issuer: string,
    returnTo: string,
    given: string | undefined,
  ): Promise<{ readonly location: string; readonly cookies: readonly string[] }> {
    const { browser } = this.#issuerOf(issuer);
    const { redirectUri, encryption } = this.#options;
    const { authorization_endpoint: endpoint } = await this.#metadataOf(issuer);
    const [state, nonce, verifier] = [18, 18, 32].map((bytes) => randomBytes(bytes).toString("base64url")) as [
      string,
      string,
      string,
    ];
    const url = new URL(endpoint);
    const parameters = {
      response_type: "code",
      client_id: browser.clientId,
      redirect_uri: redirectUri,
      scope: ["openid", ...browser.scopes].join(" "),
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const value = encryption.encrypt("login", [state], { issuer, nonce, verifier, returnTo });
    const begun = cookie(cookieOf(state), value, encryption.secondsOf("login"));
    const old = (given ?? "").split(";").flatMap((each) => loginCookie.exec(each.trim())?.[1] ?? []);
    return { location: url.href, cookies: [begun, ...old.slice(mostLogins - 1).map((name) => cookie(name, "", 0))] };
  }

  /**
   * Ends a login with the issuer's answer.
   *
   * @param query The parameters with which the issuer has sent the browser back.
   * @param cookies The browser's header `Cookie`.
   * @throws HostError `auth_failed` if the browser has not begun this login, or the issuer's answer is wrong
   */
  async finish(query: URLSearchParams, cookies: string | undefined): Promise<LoggedIn> {
    const { encryption, consumed, redirectUri, now } = this.#options;
    const state = query.get("state") ?? "";
    const begun = encryption.open("login", [state], cookieIn(cookies, cookieOf(state)));
    const [issuer = "", nonce = "", verifier = "", returnTo = ""] = ["issuer", "nonce", "verifier", "returnTo"].map(
      (key) => begun && textIn(begun, key),
    );
    if (begun === undefined || !this.#issuers.has(issuer)) throw notBegun();
    if (!(await consumed.consume(`login ${state}`, Number(begun["until"])))) throw notBegun();
    const { browser, keys, fetch, settings } = this.#issuerOf(issuer);
    const fail = failAt(issuer);
    const server = await this.#metadataOf(issuer);
    const code = codeIn(query, state, { server, isIssuerKnown: true }, fail);
    const answer = await requestTokens({
      url: server.token_endpoint,
      client: { clientId: browser.clientId, clientSecret: browser.clientSecret },
      grant: "authorization_code",
      parameters: { code, code_verifier: verifier, redirect_uri: redirectUri },
      fetch,
      now,
    }).catch((cause: unknown) => {
      throw fail("token request", `${server.token_endpoint} cannot be reached: ${errorMessage(cause)}`, { cause });
    });
    if (answer.kind !== "tokens") throw fail("token request", `${issuer} returned no tokens: ${reasonIn(answer)}`);
    const payload = await this.#verify(answer.tokens.idToken ?? "", { issuer, browser, keys, nonce });
    const user = userIn(payload, settings);
    if (user === undefined) throw fail("token request", `the ID token has no usable claim "${settings.userClaim}"`);
    const name = textIn(payload, "name") ?? textIn(payload, "preferred_username") ?? textIn(payload, "email") ?? user;
    return {
      owner: { tenant: settings.tenant, principal: `${issuer}#${user}` },
      name: clip(name, longestName),
      returnTo,
      cookie: cookie(cookieOf(state), "", 0),
    };
  }

  async #verify(
    idToken: string,
    { issuer, browser, keys, nonce }: Pick<LoginIssuer, "browser" | "keys"> & { issuer: string; nonce: string },
  ): Promise<JWTPayload> {
    const { now } = this.#options;
    try {
      const { payload } = await jwtVerify(idToken, keys.keyOf, {
        algorithms,
        issuer,
        audience: browser.clientId,
        clockTolerance,
        currentDate: new Date(now()),
        requiredClaims: ["sub", "exp", "iat", "nonce"],
      });
      const { azp = browser.clientId } = payload;
      if (payload["nonce"] === nonce && azp === browser.clientId) return payload;
      throw failAt(issuer)("token request", "the ID token belongs to another login");
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      throw failAt(issuer)("token request", `the ID token is not accepted: ${error.code}`);
    }
  }

  /** Requests of browsers that are not logged in must not become as many requests to the issuer. */
  async #metadataOf(issuer: string): Promise<LoginMetadata> {
    const { clock } = this.#options;
    const { fetch } = this.#issuerOf(issuer);
    const cached = this.#metadata.get(issuer);
    if (cached !== undefined && clock.now() - cached.readAt < fresh) return cached.metadata;
    const read = { metadata: fetchMetadata(issuer, fetch), readAt: clock.now() };
    this.#metadata.set(issuer, read);
    read.metadata.catch(() => {
      read.readAt = clock.now() - fresh + pause;
    });
    return read.metadata;
  }

  #issuerOf(issuer: string): LoginIssuer {
    const found = this.#issuers.get(issuer);
    if (found === undefined) throw new HostError("usage", `no browser can log in at ${issuer}`);
    return found;
  }
}

type LoginMetadata = Awaited<ReturnType<typeof fetchMetadata>>;

async function fetchMetadata(issuer: string, fetch: Fetch) {
  const fail = failAt(issuer);
  const metadata = await fetchServerMetadata({ fetch, fail }, issuer);
  const { authorization_endpoint, token_endpoint } = metadata ?? {};
  if (metadata === undefined || authorization_endpoint === undefined || token_endpoint === undefined)
    throw fail("authorization server metadata", `the metadata of ${issuer} has no authorization or token endpoint`);
  return { ...metadata, authorization_endpoint, token_endpoint };
}

const failAt = (issuer: string) => createFail(issuer, "Open the link again. If this repeats, tell your administrator.");

/** A cookie for each login, so that a second tab does not end the login of the first one. */
function cookieOf(state: string): string {
  return `__Host-fairlead-login-${createHash("sha256").update(state).digest("hex").slice(0, 16)}`;
}

function notBegun(): HostError {
  const why = "this login was begun in another browser, has already ended, or is older than ten minutes";
  return new HostError("auth_failed", why, { next: "Open the link again." });
}
