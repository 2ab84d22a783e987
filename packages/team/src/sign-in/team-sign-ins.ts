/** The sign-ins of a team's users to servers, on one replica: tokens for their requests, and the pages. */

import type { Clock } from "@fairlead/core";
import type { UserSignIns } from "@fairlead/core/auth";
import { createBoundedFetch, type Fetch } from "@fairlead/core/connect";
import type { Configuration } from "@fairlead/core/trust";
import type { SignInPort } from "@fairlead/gateway/questions/sign-in-request";
import type { Principal } from "@fairlead/gateway/workspaces";
import type { HttpPage } from "@fairlead/wire/serve";
import type { IssuerSettings } from "../auth/auth-settings.ts";
import type { RevokedUsers } from "../auth/revoked-users.ts";
import type { KeyRing } from "../store/key-ring.ts";
import type { Owner } from "../store/owner.ts";
import type { TeamStore } from "../store/store.ts";
import { BrowserLogins } from "./browser-login.ts";
import { BrowserSessions } from "./browser-session.ts";
import { ConnectPages, type ConnectRequest, type PageReply } from "./connect-pages.ts";
import { EncryptedValues } from "./encrypted-values.ts";
import { connectPath } from "./pages.ts";
import { ServerSignIns } from "./server-sign-in.ts";
import { type ServerToSignIn, serversToSignIn } from "./servers-to-sign-in.ts";
import { UserGrants } from "./user-grants.ts";

export interface TeamSignInsOptions {
  /** The public address of the gateway, such as `https://mcp.example`. */
  readonly url: string;
  readonly store: Pick<TeamStore, "grants" | "clients" | "consumed" | "hints">;
  readonly ring: KeyRing;
  readonly issuers: readonly IssuerSettings[];
  readonly revoked: Pick<RevokedUsers, "has">;
  /** The current settings of a tenant. */
  readonly configuration: (tenant: number) => Promise<Pick<Configuration, "servers" | "settings">>;
  /** The environment variables. They may name a proxy. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Returns milliseconds since 1970. */
  readonly now?: () => number;
  readonly random?: () => number;
  /** Called with each failure of a page that is the gateway's own. */
  readonly onError: (error: unknown) => void;
}

/** Milliseconds that a repeated request waits for its user, who may still be on the issuer's page. */
const signInTime = 45_000;
const pollTime = 1_000;

export class TeamSignIns implements AsyncDisposable {
  readonly #options: TeamSignInsOptions;
  readonly #grants: UserGrants;
  readonly #signIns: ServerSignIns;
  readonly #pages: ConnectPages;
  /** The sessions of browsers that are logged in to the gateway. */
  readonly sessions: BrowserSessions;

  constructor(options: TeamSignInsOptions) {
    const { url, store, ring, issuers, revoked, configuration, env, clock, onError } = options;
    const { now = Date.now, random = Math.random } = options;
    const { grants, clients, consumed, hints } = store;
    const post = (near: string): Fetch => createBoundedFetch({ near, env, maxRedirects: 0 });
    const redirectUri = `${url}/oauth/callback`;
    const encryption = new EncryptedValues(ring, now);
    const sessions = new BrowserSessions(encryption, revoked, now);
    const login = { redirectUri: `${url}/oauth/login`, encryption, consumed, fetchFor: post, clock, now };
    const logins = new BrowserLogins({ issuers, ...login });
    const next = (server: string): string =>
      logins.issuers.length === 0 ? withoutLogin : `Open ${url}${connectPath(server)} in a browser.`;
    this.#options = options;
    this.sessions = sessions;
    this.#grants = new UserGrants({ grants, clients, hints, fetchFor: post, next, redirectUri, clock, now, random });
    this.#signIns = new ServerSignIns({
      grants,
      clients,
      consumed,
      encryption,
      redirectUri,
      now,
      servers: async (tenant) => serversToSignIn(await configuration(tenant)),
      clientMetadataUrl: async (tenant) => (await configuration(tenant)).settings.host.clientMetadataUrl,
      fetchFor: (near) => ({ fetch: createBoundedFetch({ near, env }), post: post(near) }),
    });
    this.#pages = new ConnectPages({ url, signIns: this.#signIns, logins, sessions, encryption, now, onError });
  }

  /** The sign-ins of one user, for the user's host. */
  of(owner: Owner): UserSignIns {
    return this.#grants.of(owner);
  }

  /** How the gateway asks a client's user to sign in. */
  get port(): SignInPort {
    const ownerOf = ({ tenant, id }: Principal): Owner => ({ tenant, principal: id });
    return {
      linkFor: ({ principal, ...request }) => this.linkFor({ ...request, owner: ownerOf(principal) }),
      isSignedIn: (principal, server) => this.isSignedIn(ownerOf(principal), server),
      waitFor: (principal, server, since, signal) => this.waitFor(ownerOf(principal), server, since, signal),
    };
  }

  /** The link that a client shows to its user; undefined if this user cannot log in with a browser. */
  linkFor(request: ConnectRequest): string | undefined {
    return this.#pages.linkFor(request);
  }

  /** Sends a browser to the issuer at which its user logs in, and then to this path. */
  logIn(...login: Parameters<ConnectPages["logIn"]>): Promise<PageReply> {
    return this.#pages.logIn(...login);
  }

  pageAt(path: string): HttpPage | undefined {
    return this.#pages.pageAt(path);
  }

  async isSignedIn(owner: Owner, serverName: string): Promise<boolean> {
    const server = await this.#serverOf(owner, serverName);
    return server !== undefined && this.#grants.isSignedIn(owner, server);
  }

  /**
   * Resolves when the user has signed in to a server, but at the latest after some time.
   *
   * @param since When the user was asked, in milliseconds since 1970.
   */
  async waitFor(owner: Owner, serverName: string, since: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const end = clock.now() + signInTime;
    const server = await this.#serverOf(owner, serverName);
    while (server !== undefined && !signal.aborted && clock.now() < end) {
      const at = await this.#grants.signedInAt(owner, server);
      // A user needs seconds to sign in, so small differences between the clocks of replicas do no harm.
      if (at !== undefined && at >= since) return;
      await new Promise<void>((resolve) => void clock.after(pollTime, resolve));
    }
  }

  /** Waits for the refreshes under way. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#grants[Symbol.asyncDispose]();
  }

  async #serverOf(owner: Owner, name: string): Promise<ServerToSignIn | undefined> {
    return (await this.#signIns.servers(owner)).find(({ serverName }) => serverName === name);
  }
}

const withoutLogin =
  'This gateway has no login for browsers, and sign-ins need one. An administrator sets "browser" of an issuer in fairlead.team.auth.';
