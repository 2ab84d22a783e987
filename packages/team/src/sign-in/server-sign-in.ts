/**
 * Signs a user in to a server, in two steps that may run on two replicas: the address of the issuer's page, and the
 * issuer's answer. What the second step needs is encrypted in the parameter `state`, for this user and this browser.
 */

import { randomBytes } from "node:crypto";
import { HostError } from "@fairlead/core";
import {
  askForCode,
  type Credentials,
  checkChallengeMethods,
  codeIn,
  createDpopProofs,
  createFail,
  discoverSignIn,
  exchangeCode,
  type Fail,
  knownClient,
  mergeScopes,
  newDpopKey,
  type Revocation,
  readChallenge,
  readClient,
  readCredentials,
  registerClient,
  revokeTokens,
  type SignInPlan,
  type StoredClient,
  toCredentials,
  wantedScopes,
} from "@fairlead/core/auth";
import type { Fetch } from "@fairlead/core/connect";
import { parseJson, textIn } from "@fairlead/wire/json";
import type { ClientStore } from "../store/clients.ts";
import type { ConsumedStore } from "../store/consumed.ts";
import type { Grant, GrantStore } from "../store/grants.ts";
import type { Owner } from "../store/owner.ts";
import type { BrowserSession } from "./browser-session.ts";
import type { EncryptedValues } from "./encrypted-values.ts";
import type { ServerToSignIn } from "./servers-to-sign-in.ts";
import { grantKeyOf, toNewGrant } from "./user-grants.ts";

export interface ServerSignInsOptions {
  readonly grants: GrantStore;
  readonly clients: ClientStore;
  readonly consumed: ConsumedStore;
  readonly encryption: EncryptedValues;
  /** The servers of a tenant's current settings. */
  readonly servers: (tenant: number) => Promise<readonly ServerToSignIn[]>;
  /** The setting `fairlead.clientMetadataUrl`. */
  readonly clientMetadataUrl: (tenant: number) => Promise<string | undefined>;
  /** The address to which issuers send the browser back: one for all servers. */
  readonly redirectUri: string;
  /** Returns the `fetch` for a server and its issuer. `post` must not follow redirects, because it sends secrets. */
  readonly fetchFor: (serverUrl: string) => { readonly fetch: Fetch; readonly post: Fetch };
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** What a user is asked to agree to. */
export interface PreparedSignIn {
  readonly server: ServerToSignIn;
  readonly plan: SignInPlan;
  readonly scopes: readonly string[];
  /** The account of the present sign-in, which a new one replaces. */
  readonly present: Credentials | undefined;
}

const again = "Open the link again, or start at the gateway's page /connect.";

export class ServerSignIns {
  readonly #options: ServerSignInsOptions;

  constructor(options: ServerSignInsOptions) {
    this.#options = options;
  }

  /** The servers at which a user signs in. */
  servers({ tenant }: Pick<Owner, "tenant">): Promise<readonly ServerToSignIn[]> {
    return this.#options.servers(tenant);
  }

  /**
   * Finds out how a user signs in to a server.
   *
   * @param moreScopes The scopes for which the server asks, if those of its metadata are not enough.
   * @throws HostError `server_unknown`, `auth_failed`
   */
  async prepare(owner: Owner, serverName: string, moreScopes: readonly string[] = []): Promise<PreparedSignIn> {
    const { servers, fetchFor, grants } = this.#options;
    const server = (await servers(owner.tenant)).find((each) => each.serverName === serverName);
    if (server === undefined) throw unknownServer(serverName);
    const { serverUrl, oauth } = server;
    const { fetch } = fetchFor(serverUrl);
    const fail = createFail(serverName, again);
    const stored = await grants.read(grantKeyOf(owner, server));
    const present = stored && readCredentials(stored.secret);
    const plan = await discoverSignIn({
      ...server,
      challenge: readChallenge(await challengeOf(serverUrl, fetch)),
      fetch,
      fail,
      choose: async (issuers) => issuers.find((issuer) => issuer === present?.issuer) ?? issuers[0] ?? "",
    });
    checkChallengeMethods(plan, fail);
    const before = moreScopes.length > 0 ? mergeScopes(present?.scopes ?? [], moreScopes) : undefined;
    const scopes = wantedScopes({
      scopes: plan.scopes,
      offered: plan.server.scopes_supported,
      chosen: oauth.scopes,
      before,
    });
    return { server, plan, scopes, present: present?.tokens === undefined ? undefined : present };
  }

  /** Returns the address of the issuer's page for a user who has agreed. Registers Fairlead there if necessary. */
  async begin({ id, owner }: BrowserSession, { server, plan, scopes, present }: PreparedSignIn): Promise<string> {
    const { redirectUri, encryption } = this.#options;
    const fail = createFail(server.serverName, again);
    const client = (await this.#findClient(owner, server, plan)) ?? (await this.#register(owner, server, plan, fail));
    const verifier = randomBytes(32).toString("base64url");
    const dpopKey = plan.isDpop ? (present?.dpopKey ?? newDpopKey()) : undefined;
    const state = encryption.encrypt("state", boundTo(id, owner), {
      once: randomBytes(16).toString("base64url"),
      server: server.serverName,
      pin: grantKeyOf(owner, server).pin,
      issuer: plan.server.issuer,
      clientId: client.clientId,
      verifier,
      scopes,
      dpopKey,
    });
    const audiences = server.oauth.audiences ?? [];
    return (await askForCode({ plan, client, redirectUri, state, scopes, audiences, verifier, fail })).url;
  }

  /**
   * Ends a sign-in with the issuer's answer, and stores the tokens.
   *
   * @param query The parameters with which the issuer has sent the browser back.
   * @throws HostError `auth_failed` if the answer is wrong or was used before, `unreachable` if the store is away. Then
   *   the same answer can be sent again.
   */
  async finish({ id, owner }: BrowserSession, query: URLSearchParams): Promise<Credentials> {
    const { encryption, consumed, redirectUri, now, fetchFor, clients } = this.#options;
    const state = query.get("state") ?? "";
    const begun = encryption.open("state", boundTo(id, owner), state);
    if (begun === undefined || query.getAll("state").length !== 1) throw foreignState();
    const text = (key: string): string => textIn(begun, key) ?? "";
    if (!(await consumed.consume(`sign-in ${text("once")}`, Number(begun["until"])))) throw usedState();
    const serverName = text("server");
    const fail = createFail(serverName, again);
    const prepared = await this.prepare(owner, serverName);
    const { server, plan } = prepared;
    if (grantKeyOf(owner, server).pin !== text("pin") || plan.server.issuer !== text("issuer"))
      throw fail("browser", "the settings or the metadata of the server have changed since the sign-in began");
    const code = codeIn(query, state, plan, fail);
    const client = await this.#findClient(owner, server, plan);
    if (client?.clientId !== text("clientId"))
      throw fail("client registration", "Fairlead's registration has changed since the sign-in began");
    const { post } = fetchFor(server.serverUrl);
    const dpopKey = textIn(begun, "dpopKey");
    const audiences = server.oauth.audiences ?? [];
    const dpop = dpopKey === undefined ? undefined : createDpopProofs(dpopKey);
    const tokens = await exchangeCode(
      { code, verifier: text("verifier"), redirectUri },
      { plan, client, audiences, post, now, fail, dpop },
    );
    if (tokens === "invalid_client") {
      const key = { tenant: owner.tenant, issuer: plan.server.issuer, redirectUri };
      const stored = client.redirectUri === undefined ? undefined : await clients.read(key);
      if (stored !== undefined) await clients.remove(key, stored);
      throw fail("token request", `${plan.server.issuer} does not know this client (invalid_client)`, {
        next:
          stored === undefined
            ? `An administrator must check "clientId" and "clientSecret" under "oauth" of "${serverName}".`
            : `${again} Fairlead then registers a new client.`,
      });
    }
    const listed = begun["scopes"];
    const scopes = Array.isArray(listed) ? listed.filter((each) => typeof each === "string") : [];
    const credentials = toCredentials({ ...server, plan, scopes, audiences, dpopKey }, client, tokens);
    await this.#save(owner, server, credentials, post);
    return credentials;
  }

  /** The sign-ins of a user, with those to servers that the settings no longer have. */
  async list(owner: Owner): Promise<readonly { readonly grant: Grant; readonly credentials: Credentials }[]> {
    return (await this.#options.grants.list(owner)).flatMap((grant) => {
      const credentials = readCredentials(grant.secret);
      return credentials === undefined ? [] : [{ grant, credentials }];
    });
  }

  /** Ends the sign-ins of a user to a server. */
  disconnect(owner: Owner, serverName: string): Promise<readonly EndedSignIn[]> {
    const { grants, fetchFor } = this.#options;
    return disconnectUser(owner, { grants, serverName, fetchFor: (serverUrl) => fetchFor(serverUrl).post });
  }

  async #save(owner: Owner, server: ServerToSignIn, credentials: Credentials, post: Fetch): Promise<void> {
    try {
      await this.#options.grants.save(grantKeyOf(owner, server), toNewGrant(credentials));
    } catch (error) {
      // No request would ever use these tokens.
      await revokeTokens(credentials, post);
      throw error;
    }
  }

  /** The client in the settings, the metadata document, or the registration that all replicas share. */
  async #findClient({ tenant }: Owner, { oauth }: ServerToSignIn, plan: SignInPlan): Promise<StoredClient | undefined> {
    const { clients, redirectUri, clientMetadataUrl, now } = this.#options;
    const configured = knownClient({ plan, oauth, clientMetadataUrl: await clientMetadataUrl(tenant), now });
    if (configured !== undefined) return configured;
    const key = { tenant, issuer: plan.server.issuer, redirectUri };
    const text = await clients.read(key);
    const stored = text === undefined ? undefined : readClient(parseJson(text));
    if (stored !== undefined && (stored.expiresAt ?? Number.POSITIVE_INFINITY) > now()) return stored;
    if (text !== undefined) await clients.remove(key, text);
    return undefined;
  }

  async #register(
    { tenant }: Owner,
    { serverName, serverUrl }: ServerToSignIn,
    plan: SignInPlan,
    fail: Fail,
  ): Promise<StoredClient> {
    const { clients, redirectUri, fetchFor } = this.#options;
    const { issuer } = plan.server;
    const { post } = fetchFor(serverUrl);
    // Without scopes, because all servers with this issuer share the client.
    const registration = { plan, redirectUri, scopes: [], isDevice: false, isWeb: true, fetch: post, fail };
    const registered = await registerClient(registration);
    if (!("clientId" in registered))
      throw fail("client registration", registered.why, {
        next: `An administrator registers a client at ${issuer} with the redirect URI ${redirectUri}, and adds its id to "${serverName}" in the settings: "oauth": {"clientId": "…"}`,
      });
    const first = await clients.add({ tenant, issuer, redirectUri }, JSON.stringify(registered));
    return readClient(parseJson(first)) ?? registered;
  }
}

/** A sign-in that was ended. */
export interface EndedSignIn {
  readonly server: string;
  readonly issuer: string;
  /** Whether the issuer has revoked the tokens. */
  readonly revocation: Revocation;
}

/**
 * Ends the sign-ins of a user: removes them, and revokes their tokens where the issuer offers that. For the user, and for
 * administrators.
 */
export async function disconnectUser(
  owner: Owner,
  {
    grants,
    serverName,
    fetchFor,
  }: {
    readonly grants: Pick<GrantStore, "list" | "remove">;
    /** Default: all servers. */
    readonly serverName?: string | undefined;
    /** Returns the `fetch` for the issuer of a server. It must not follow redirects. */
    readonly fetchFor: (serverUrl: string) => Fetch;
  },
): Promise<readonly EndedSignIn[]> {
  const found = (await grants.list(owner)).filter(({ key }) => serverName === undefined || key.server === serverName);
  const ended: EndedSignIn[] = [];
  for (const { key, issuer, secret } of found) {
    // First, so that no replica uses the tokens any more, even if the issuer cannot be reached.
    if (!(await grants.remove(key))) continue;
    const credentials = readCredentials(secret);
    const revocation =
      credentials === undefined ? "unsupported" : await revokeTokens(credentials, fetchFor(credentials.serverUrl));
    ended.push({ server: key.server, issuer, revocation });
  }
  return ended;
}

/** A state opens only for the user and in the browser for which it was made. */
function boundTo(session: string, { tenant, principal }: Owner): readonly (string | number)[] {
  return [session, tenant, principal];
}

/**
 * Asks the server without a token, because its challenge may name the metadata and the scopes. A server that does not
 * answer so has its metadata at the usual addresses.
 */
async function challengeOf(serverUrl: string, fetch: Fetch): Promise<string | undefined> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  try {
    const response = await fetch(serverUrl, { method: "POST", headers, body });
    return response.status === 401 ? (response.headers.get("www-authenticate") ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

function unknownServer(serverName: string): HostError {
  return new HostError("server_unknown", `there is no server "${serverName}" at which users sign in`, {
    serverName,
    next: "Choose a server on the gateway's page /connect.",
  });
}

function foreignState(): HostError {
  const why = "this sign-in was begun by another user or in another browser, was changed, or is older than ten minutes";
  return new HostError("auth_failed", why, { next: again });
}

function usedState(): HostError {
  return new HostError("auth_failed", "this sign-in has already ended: its answer counts once", { next: again });
}
