/**
 * The pages on which the users of a team sign in to servers, see their sign-ins and end them. Every page needs a browser
 * that is logged in to the gateway as the user for whom it works.
 *
 * `/connect` lists the sign-ins, `/connect/<server>` asks for consent, `/oauth/callback` takes the answers of the servers'
 * issuers, `/oauth/login` those of the company's issuers, and `/oauth/client` is the gateway's client metadata document.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { HostError } from "@fairlead/core";
import { textIn } from "@fairlead/wire/json";
import { type HttpPage, readBody } from "@fairlead/wire/serve";
import type { Owner } from "../store/owner.ts";
import { isStoreAway } from "../store/store.ts";
import type { BrowserLogins } from "./browser-login.ts";
import type { BrowserSession, BrowserSessions } from "./browser-session.ts";
import type { EncryptedValues } from "./encrypted-values.ts";
import { pageHeaders } from "./html.ts";
import {
  choosePage,
  connectPath,
  consentPage,
  disconnectedPage,
  leavePage,
  listPage,
  loggedOutPage,
  otherUserPage,
  type PageUser,
  problemPage,
} from "./pages.ts";
import type { ServerSignIns } from "./server-sign-in.ts";
import type { ServerToSignIn } from "./servers-to-sign-in.ts";
import { grantKeyOf } from "./user-grants.ts";

export interface ConnectPagesOptions {
  /** The public address of the gateway, such as `https://mcp.example`. */
  readonly url: string;
  readonly signIns: ServerSignIns;
  readonly logins: BrowserLogins;
  readonly sessions: BrowserSessions;
  readonly encryption: EncryptedValues;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  /** Called with each failure that is the gateway's own, for its log. */
  readonly onError: (error: unknown) => void;
}

/** What a client asks its user to sign in for. */
export interface ConnectRequest {
  readonly owner: Owner;
  /** The client's name, as it claims. */
  readonly client: string;
  readonly server: string;
  /** The scopes that the server asks for. Empty: those of its metadata. */
  readonly scopes: readonly string[];
}

export interface PageRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly cookies: string | undefined;
  readonly form: URLSearchParams;
}

export interface PageReply {
  readonly status: number;
  readonly html?: string;
  readonly json?: string;
  readonly location?: string;
  readonly cookies?: readonly string[];
}

/** Longest form, in bytes. */
const longestForm = 32_768;
/** A sign-in counts as just done for this many milliseconds. */
const justDone = 120_000;
const longestName = 200;

export class ConnectPages {
  readonly #options: ConnectPagesOptions;

  constructor(options: ConnectPagesOptions) {
    this.#options = options;
  }

  /**
   * The link that a client shows to its user. Undefined if this user cannot log in with a browser: then nothing could
   * prove who opens the link.
   */
  linkFor({ owner, client, server, scopes }: ConnectRequest): string | undefined {
    const { url, logins, encryption } = this.#options;
    if (!logins.canLogIn(owner)) return undefined;
    const name = client.slice(0, longestName);
    const link = encryption.encrypt("link", [server], { ...owner, client: name, scopes });
    return `${url}${connectPath(server)}?s=${link}`;
  }

  /** Returns what answers requests to a path, or undefined if it is none of these pages. */
  pageAt(path: string): HttpPage | undefined {
    if (!/^\/(?:connect(?:\/[^/]+)?|oauth\/(?:callback|login|client))$/.test(path)) return undefined;
    const { url } = this.#options;
    return {
      take: (request, response) => takePage({ url, path, answer: (asked) => this.#answer(asked) }, request, response),
    };
  }

  async #answer(request: PageRequest): Promise<PageReply> {
    const user = this.#options.sessions.read(request.cookies);
    try {
      switch (request.path) {
        case "/oauth/client":
          return { status: 200, json: this.#clientDocument() };
        case "/oauth/login":
          return await this.#endLogin(request);
        case "/oauth/callback":
          return await this.#endSignIn(request, user);
        case "/connect":
          return request.method === "POST" ? await this.#act(request, user) : await this.#list(request, user);
        default:
          return await this.#connect(request, user);
      }
    } catch (error) {
      const isOwn = !(error instanceof HostError) || error.code === "internal";
      if (isOwn) this.#options.onError(error);
      const problem = isStoreAway(error) ? storeAway() : error;
      const html = problemPage(titles[request.path] ?? "Sign-in failed", problem, user && pageUser(user));
      return { status: isStoreAway(error) ? 503 : isOwn ? 500 : 400, html };
    }
  }

  /** The list of the user's sign-ins. */
  async #list({ query, cookies }: PageRequest, user: BrowserSession | undefined): Promise<PageReply> {
    const { signIns, sessions, now } = this.#options;
    const issuer = query.get("issuer") ?? undefined;
    if (user === undefined) return this.logIn("/connect", issuer, cookies);
    const [servers, grants] = await Promise.all([signIns.servers(user.owner), signIns.list(user.owner)]);
    const pinOf = (server: ServerToSignIn): string => grantKeyOf(user.owner, server).pin;
    const isCurrent = (server: string, pin: string): boolean =>
      servers.some((each) => each.serverName === server && pinOf(each) === pin);
    const disconnectToken = sessions.formToken(user, "disconnect");
    const listed = servers.map((server) => {
      const found = grants.find(({ grant: { key } }) => key.server === server.serverName && key.pin === pinOf(server));
      return {
        server: server.serverName,
        url: server.serverUrl,
        ...found,
        refusedAt: found?.grant.refusedAt,
        disconnectToken,
      };
    });
    const others = grants
      .filter(({ grant: { key } }) => !isCurrent(key.server, key.pin))
      .map(({ grant, credentials }) => ({ server: grant.key.server, credentials, disconnectToken }));
    const done = listed.find(
      ({ server, credentials }) =>
        server === query.get("done") && now() - (credentials?.tokens?.obtainedAt ?? 0) < justDone,
    );
    return {
      status: 200,
      html: listPage(pageUser(user), [...listed, ...others], {
        signOutToken: sessions.formToken(user, "log_out"),
        justNow: done?.server,
      }),
    };
  }

  /** Ends a sign-in to a server, or the session of the browser. */
  async #act({ form }: PageRequest, user: BrowserSession | undefined): Promise<PageReply> {
    const { sessions, signIns } = this.#options;
    if (user === undefined) throw loggedOut();
    const action = form.get("do") ?? "";
    const server = form.get("server") ?? "";
    if (!sessions.isFormToken(user, action, form.get("token"))) throw oldForm();
    switch (action) {
      case "log_out":
        return { status: 200, html: loggedOutPage(), cookies: [sessions.end()] };
      case "disconnect":
        return {
          status: 200,
          html: disconnectedPage(pageUser(user), server, await signIns.disconnect(user.owner, server)),
        };
      default:
        throw oldForm();
    }
  }

  /** Asks for consent, and sends the user who has agreed to the server's issuer. */
  async #connect(request: PageRequest, user: BrowserSession | undefined): Promise<PageReply> {
    const { sessions, encryption, signIns } = this.#options;
    const server = nameIn(request.path);
    const isPost = request.method === "POST";
    const link = (isPost ? request.form : request.query).get("s") ?? undefined;
    const opened = link === undefined ? undefined : encryption.open("link", [server], link);
    if (link !== undefined && opened === undefined) throw oldLink();
    const owner = opened && { tenant: Number(opened["tenant"]), principal: textIn(opened, "principal") ?? "" };
    if (user === undefined) {
      if (isPost) throw loggedOut();
      const issuer = owner?.principal.slice(0, owner.principal.indexOf("#"));
      const back = link === undefined ? request.path : `${request.path}?s=${link}`;
      return this.logIn(back, issuer ?? request.query.get("issuer") ?? undefined, request.cookies);
    }
    if (owner !== undefined && (owner.tenant !== user.owner.tenant || owner.principal !== user.owner.principal))
      return { status: 403, html: otherUserPage(pageUser(user), sessions.formToken(user, "log_out")) };
    const action = `connect ${server} ${link ?? ""}`;
    if (isPost && !sessions.isFormToken(user, action, request.form.get("token"))) throw oldForm();
    const asked = opened?.["scopes"];
    const scopes = Array.isArray(asked) ? asked.filter((each) => typeof each === "string") : [];
    const prepared = await signIns.prepare(user.owner, server, scopes);
    if (isPost) {
      const address = await signIns.begin(user, prepared);
      return { status: 200, html: leavePage(pageUser(user), server, address) };
    }
    const form = { token: sessions.formToken(user, action), link, client: opened && textIn(opened, "client") };
    return { status: 200, html: consentPage(pageUser(user), prepared, form) };
  }

  /** Takes the answer of a server's issuer. */
  async #endSignIn({ query }: PageRequest, user: BrowserSession | undefined): Promise<PageReply> {
    if (user === undefined) throw loggedOut();
    const { serverName } = await this.#options.signIns.finish(user, query);
    // The code must not stay in the address bar.
    return { status: 303, location: `/connect?done=${encodeURIComponent(serverName)}` };
  }

  /** Sends a browser to the issuer at which its user logs in. */
  async logIn(returnTo: string, issuer: string | undefined, given: string | undefined): Promise<PageReply> {
    const { issuers } = this.#options.logins;
    const [first, ...others] = issuers;
    if (first === undefined) throw withoutLogin();
    const found = issuers.find((each) => each === issuer) ?? (others.length === 0 ? first : undefined);
    if (found === undefined) {
      const joint = returnTo.includes("?") ? "&" : "?";
      return {
        status: 200,
        html: choosePage(issuers, (each) => `${returnTo}${joint}issuer=${encodeURIComponent(each)}`),
      };
    }
    const { location, cookies } = await this.#options.logins.begin(found, returnTo, given);
    return { status: 303, location, cookies };
  }

  /** Takes the answer of the company's issuer. */
  async #endLogin({ query, cookies }: PageRequest): Promise<PageReply> {
    const { logins, sessions } = this.#options;
    const { owner, name, returnTo, cookie } = await logins.finish(query, cookies);
    return { status: 303, location: returnTo, cookies: [cookie, sessions.begin(owner, name)] };
  }

  /** For issuers that read a client's metadata from its id, instead of registering it. */
  #clientDocument(): string {
    const { url } = this.#options;
    return JSON.stringify({
      client_id: `${url}/oauth/client`,
      client_name: "Fairlead",
      redirect_uris: [`${url}/oauth/callback`],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "web",
    });
  }
}

const titles: Readonly<Record<string, string>> = {
  "/oauth/login": "Login failed",
  "/connect": "Your sign-ins",
};

function pageUser({ name, owner }: BrowserSession): PageUser {
  return { name, principal: owner.principal };
}

/** The server in `/connect/<server>`. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path.slice("/connect/".length));
  } catch {
    return path.slice("/connect/".length);
  }
}

/** What answers the requests of browsers to a path. */
interface AnsweredPage {
  /** The public address of the gateway. */
  readonly url: string;
  readonly path: string;
  readonly answer: (request: PageRequest) => Promise<PageReply>;
}

/** Reads a request of a browser, and refuses forms that another site has sent. */
export async function takePage(
  { url, path, answer }: AnsweredPage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET", headers } = request;
  const isForm = method === "POST" && /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "");
  if (method !== "GET" && method !== "HEAD" && !isForm) {
    response.writeHead(405, { allow: "GET, POST", connection: "close" }).end();
    return;
  }
  const text = isForm ? await bodyOf(request) : "";
  if (text === undefined) {
    response.writeHead(413, { connection: "close" }).end();
    return;
  }
  // The cookie is not sent with requests of other sites, and forms have a token. This is a third reason to refuse them.
  const site = headers["sec-fetch-site"];
  const isForeign =
    (headers.origin !== undefined && headers.origin !== url) || (site !== undefined && site !== "same-origin");
  const reply =
    isForm && isForeign
      ? { status: 403, html: problemPage("This form was not sent from its page", foreignForm()) }
      : await answer({
          method,
          path,
          query: new URL(request.url ?? "/", "http://gateway").searchParams,
          cookies: headers.cookie,
          form: new URLSearchParams(text),
        });
  send(response, reply, method === "HEAD");
}

function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    readBody(request, longestForm, resolve);
    request.once("close", () => resolve(undefined));
  });
}

function send(
  response: ServerResponse,
  { status, html, json, location, cookies = [] }: PageReply,
  isHead: boolean,
): void {
  const headers = json === undefined ? pageHeaders : { ...pageHeaders, "content-type": "application/json" };
  response.writeHead(status, {
    ...headers,
    ...(location !== undefined && { location }),
    ...(cookies.length > 0 && { "set-cookie": [...cookies] }),
  });
  response.end(isHead ? undefined : (html ?? json));
}

function withoutLogin(): HostError {
  const why = "this gateway has no login for browsers, so it cannot know whose sign-in this would be";
  return new HostError("auth_required", why, {
    next: 'An administrator sets "browser": {"clientId": "…"} for your issuer in fairlead.team.auth.issuers.',
  });
}

function loggedOut(): HostError {
  return new HostError("auth_required", "this browser is not logged in to the gateway, or its session has ended", {
    next: "Open the link of your program again, or open /connect.",
  });
}

function oldForm(): HostError {
  return new HostError("usage", "this form is too old, or belongs to another page", { next: "Open the page again." });
}

function oldLink(): HostError {
  return new HostError("usage", "this link is older than an hour, was changed, or is for another server", {
    next: "Ask your program to try again: it then shows a new link. Or start at /connect.",
  });
}

function foreignForm(): HostError {
  return new HostError("denied", "another site has sent this form with your browser", {
    next: "Open /connect yourself.",
  });
}

function storeAway(): HostError {
  return new HostError("unreachable", "the gateway's database is away", {
    next: "Reload this page in a minute; nothing is lost.",
  });
}
