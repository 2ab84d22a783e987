/** The words of the pages for sign-ins. */

import { HostError } from "@fairlead/core";
import { type Credentials, otherTokenHost, scopesIn } from "@fairlead/core/auth";
import { attribute, type Html, html, page } from "./html.ts";
import type { PreparedSignIn } from "./server-sign-in.ts";

export interface PageUser {
  readonly name: string;
  readonly principal: string;
}

/** One server on the list of a user's sign-ins. */
export interface ListedSignIn {
  readonly server: string;
  /** Absent: the settings no longer have this server. */
  readonly url?: string | undefined;
  readonly credentials?: Credentials | undefined;
  readonly refusedAt?: number | undefined;
  readonly disconnectToken: string;
}

export function listPage(
  { name, principal }: PageUser,
  servers: readonly ListedSignIn[],
  { signOutToken, justNow }: { readonly signOutToken: string; readonly justNow: string | undefined },
): string {
  const done =
    justNow === undefined
      ? undefined
      : html`<p class="ok" role="status">You are signed in to ${justNow}. Go back to your program and try again; you can close this page.</p>`;
  const rows = servers.map(serverRow);
  return page(
    "Your sign-ins",
    html`<h1>Your sign-ins</h1>${done}
<p>Programs that you use through this gateway work with these servers in your name. They never get your tokens.</p>
${rows.length === 0 ? html`<p>No server of this gateway needs a sign-in.</p>` : html`<ul>${rows}</ul>`}
<div class="buttons">${postForm("/connect", { do: "log_out", token: signOutToken }, html`<button>Log out of this page</button>`)}
<span class="quiet">${principal}</span></div>`,
    { user: name },
  );
}

function serverRow({ server, url, credentials, refusedAt, disconnectToken }: ListedSignIn): Html {
  const isSignedIn = credentials?.tokens !== undefined;
  const { issuer = "", account, tokens, scopes = [] } = credentials ?? {};
  const granted = tokens?.scope === undefined ? scopes : scopesIn(tokens.scope);
  const state = !isSignedIn
    ? html`<span class="quiet">Not signed in.</span>`
    : refusedAt !== undefined
      ? html`<span class="warn">Sign in again: ${issuer} no longer accepts this sign-in.</span>`
      : html`<span class="ok">Signed in${account === undefined ? "" : ` as ${account}`}</span> at ${issuer}${
          granted.length === 0 ? "" : `, scopes: ${granted.join(" ")}`
        }.`;
  const signIn =
    url === undefined
      ? html`<span class="quiet">The settings no longer have this server.</span>`
      : html`<a class="button" href="${attribute(connectPath(server))}">${
          isSignedIn ? "Sign in again" : "Sign in"
        }<span class="quiet"> – ${server}</span></a>`;
  const disconnect = isSignedIn
    ? postForm(
        "/connect",
        { do: "disconnect", server, token: disconnectToken },
        html`<button>Disconnect<span class="quiet"> – ${server}</span></button>`,
      )
    : undefined;
  return html`<li class="server"><h2>${server}</h2><p class="quiet">${url ?? credentials?.serverUrl}</p><p>${state}</p>
<div class="buttons">${signIn}${disconnect}</div></li>`;
}

export function consentPage(
  { name, principal }: PageUser,
  { server: { serverName, serverUrl }, plan, scopes, present }: PreparedSignIn,
  {
    token,
    link,
    client,
  }: { readonly token: string; readonly link: string | undefined; readonly client: string | undefined },
): string {
  const { issuer } = plan.server;
  const tokenHost = otherTokenHost(issuer, plan.server.token_endpoint);
  const host = hostOf(plan.server.authorization_endpoint ?? issuer);
  const asks =
    client === undefined
      ? html`<p>You are about to sign in to a server for the programs that you use through this gateway.</p>`
      : html`<p>A program that calls itself <strong>${client}</strong> asks you to sign in to a server. If you have not asked a program for this, close this page.</p>`;
  return page(
    `Sign in to ${serverName}`,
    html`<h1>Sign in to ${serverName}?</h1>${asks}
<dl><dt>Server</dt><dd>${serverName}<br>${serverUrl}</dd>
<dt>You sign in at</dt><dd><strong>${host}</strong><br>${issuer}</dd>
${tokenHost === undefined ? undefined : html`<dt>Tokens come from</dt><dd>${tokenHost}</dd>`}
<dt>It will allow</dt><dd>${scopes.length === 0 ? "what the server's operator has set: no scopes are requested" : scopes.join(" ")}</dd>
<dt>For the user</dt><dd>${name}<br><span class="quiet">${principal}</span></dd></dl>
${
  present === undefined
    ? undefined
    : html`<p class="warn">You are signed in${present.account === undefined ? "" : ` as ${present.account}`}. A new sign-in replaces this one.</p>`
}
<p class="quiet">The gateway stores the tokens encrypted and sends them only to this server. All programs that you use through this gateway can then use the server in your name, as far as its rules allow.</p>
<div class="buttons">${postForm(
      connectPath(serverName),
      { token, ...(link !== undefined && { s: link }) },
      html`<button class="primary">Continue to ${host}</button>`,
    )}<a href="/connect">Cancel</a></div>`,
    { user: name },
  );
}

/** The browser leaves by itself: after a form, browsers follow a redirect to another site only if the policy names it. */
export function leavePage({ name }: PageUser, serverName: string, url: string): string {
  const host = hostOf(url);
  return page(
    `Continue to ${host}`,
    html`<h1>Continue to ${host}</h1><p>You sign in to ${serverName} there, and then come back.</p>
<div class="buttons"><a class="button primary" href="${attribute(url)}">Continue to ${host}</a></div>`,
    { user: name, refresh: url },
  );
}

/** @param issuers The issuers at which the company's users log in. */
export function choosePage(issuers: readonly string[], pathWith: (issuer: string) => string): string {
  const links = issuers.map(
    (issuer) => html`<li class="server"><a class="button" href="${attribute(pathWith(issuer))}">${issuer}</a></li>`,
  );
  return page("Log in", html`<h1>Log in to the gateway</h1><p>Choose where your account is.</p><ul>${links}</ul>`);
}

/** The page for a failure: what went wrong, and what to do. */
export function problemPage(title: string, error: unknown, user?: PageUser): string {
  const { message, next } =
    error instanceof HostError
      ? error
      : { message: "The gateway could not do this.", next: "Try again. If this repeats, tell your administrator." };
  return page(
    title,
    html`<h1>${title}</h1><p class="bad" role="alert">${sentence(message)}</p>
${next === undefined ? undefined : html`<p>${sentence(next)}</p>`}
<div class="buttons"><a href="/connect">Your sign-ins</a></div>`,
    user && { user: user.name },
  );
}

/** The page for a link that belongs to another user. */
export function otherUserPage({ name, principal }: PageUser, signOutToken: string): string {
  return page(
    "This link is for another user",
    html`<h1>This link is for another user</h1>
<p class="bad" role="alert">You are logged in as ${name} (${principal}), and another user's program has made this link. If you signed in here, that user could use the server with your account.</p>
<p>If another person sent you this link, close this page. If both users are you, log out, open the link again, and log in as the user of the program.</p>
<div class="buttons">${postForm("/connect", { do: "log_out", token: signOutToken }, html`<button>Log out</button>`)}<a href="/connect">Your sign-ins</a></div>`,
    { user: name },
  );
}

export function loggedOutPage(): string {
  return page(
    "Logged out",
    html`<h1>Logged out</h1><p role="status">This browser is logged out of the gateway. Your sign-ins to servers stay.</p><div class="buttons"><a href="/connect">Log in</a></div>`,
  );
}

/** @param results What the issuer said to the revocation. */
export function disconnectedPage(
  { name }: PageUser,
  serverName: string,
  results: readonly { readonly issuer: string; readonly revocation: "revoked" | "unsupported" | "failed" }[],
): string {
  const lines = results.map(({ issuer, revocation }) =>
    revocation === "revoked"
      ? html`<p>${issuer} has revoked the tokens.</p>`
      : html`<p class="warn">${issuer} ${
          revocation === "unsupported" ? "offers no revocation" : "did not confirm the revocation"
        }: the tokens may work there until they expire. The gateway has deleted them. To be sure, remove Fairlead's access on the issuer's own page.</p>`,
  );
  return page(
    `Disconnected from ${serverName}`,
    html`<h1>Disconnected from ${serverName}</h1><p role="status">${
      results.length === 0 ? "You were not signed in." : "The gateway no longer has your sign-in."
    }</p>${lines}<div class="buttons"><a href="/connect">Your sign-ins</a></div>`,
    { user: name },
  );
}

/** The path of the page for a server. */
export function connectPath(serverName: string): string {
  return `/connect/${encodeURIComponent(serverName)}`;
}

export function postForm(path: string, fields: Readonly<Record<string, string>>, button: Html): Html {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${attribute(value)}">`,
  );
  return html`<form method="post" action="${attribute(path)}">${inputs}${button}</form>`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
