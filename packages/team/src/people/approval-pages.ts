/**
 * The pages on which the users of a team answer whether requests may run: `/approvals` lists those that wait for the user of
 * the browser, `/approvals/<id>` shows one with its arguments. They need a browser that is logged in to the gateway.
 */

import { HostError } from "@fairlead/core";
import { choiceText } from "@fairlead/core/policy";
import { type ConsentAnswer, consentAnswers } from "@fairlead/gateway/consent/confirmed-request";
import type { HttpPage } from "@fairlead/wire/serve";
import { TeamAdmin, type WaitingRequest } from "../admin/team-admin.ts";
import type { BrowserSession, BrowserSessions } from "../sign-in/browser-session.ts";
import { type PageReply, type PageRequest, takePage } from "../sign-in/connect-pages.ts";
import { attribute, type Html, html, page } from "../sign-in/html.ts";
import { postForm, problemPage } from "../sign-in/pages.ts";
import type { KeyRing } from "../store/key-ring.ts";
import { isStoreAway, type TeamStore } from "../store/store.ts";

export interface ApprovalPagesOptions {
  /** The public address of the gateway. */
  readonly url: string;
  readonly store: TeamStore;
  readonly ring: KeyRing;
  readonly sessions: BrowserSessions;
  /** `issuer`: the one that the user has chosen, if there are several. */
  readonly logIn: (returnTo: string, issuer: string | undefined, cookies: string | undefined) => Promise<PageReply>;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  /** Called with each failure that is the gateway's own, for its log. */
  readonly onError: (error: unknown) => void;
}

export class ApprovalPages {
  readonly #options: ApprovalPagesOptions;

  constructor(options: ApprovalPagesOptions) {
    this.#options = options;
  }

  pageAt(path: string): HttpPage | undefined {
    const [, id] = /^\/approvals(?:\/([\w-]{1,64}))?$/.exec(path) ?? [];
    if (path !== "/approvals" && id === undefined) return undefined;
    const { url } = this.#options;
    const answer = (request: PageRequest): Promise<PageReply> => this.#answer(request, id);
    return { take: (request, response) => takePage({ url, path, answer }, request, response) };
  }

  async #answer(request: PageRequest, id: string | undefined): Promise<PageReply> {
    const { sessions, logIn, onError } = this.#options;
    const user = sessions.read(request.cookies);
    try {
      if (user === undefined)
        return await logIn(request.path, request.query.get("issuer") ?? undefined, request.cookies);
      const admin = await this.#adminOf(user);
      if (id === undefined) return { status: 200, html: listPage(user, await admin.questions()) };
      return request.method === "POST" ? await this.#take(request, user, admin, id) : await this.#show(user, admin, id);
    } catch (error) {
      const problem = isStoreAway(error)
        ? new HostError("unreachable", "the gateway's database is away", { next: "Reload this page in a minute." })
        : error;
      const shown = user && { name: user.name, principal: user.owner.principal };
      const isOwn = !(error instanceof HostError) || error.code === "internal";
      if (isOwn) onError(error);
      const status = isStoreAway(error) ? 503 : isOwn ? 500 : 400;
      return { status, html: problemPage("Approvals", problem, shown) };
    }
  }

  async #show(user: BrowserSession, admin: TeamAdmin, id: string): Promise<PageReply> {
    const found = await admin.question(id);
    const token = this.#options.sessions.formToken(user, `approve ${id}`);
    return { status: 200, html: requestPage(user, found, found.mayAnswer ? token : undefined) };
  }

  async #take(request: PageRequest, user: BrowserSession, admin: TeamAdmin, id: string): Promise<PageReply> {
    const { form: given } = request;
    if (!this.#options.sessions.isFormToken(user, `approve ${id}`, given.get("token")))
      throw new HostError("usage", "this form is too old, or belongs to another page", {
        next: "Open the page again.",
      });
    const answer = consentAnswers.find((each) => each === given.get("answer")) ?? "no";
    await admin.answer(id, { answer });
    return { status: 200, html: answeredPage(user, answer) };
  }

  /** The groups are those of the user's last access token: the session of a browser has none. */
  async #adminOf({ owner }: BrowserSession): Promise<TeamAdmin> {
    const { store, ring, now } = this.#options;
    const { tenant, principal } = owner;
    const groups = (await store.users.groupsOf(tenant, [principal])).get(principal) ?? [];
    return new TeamAdmin({ store, ring, tenant, actor: { principal, groups, roles: new Set(["user"]) }, now });
  }
}

function listPage({ name }: BrowserSession, waiting: readonly WaitingRequest[]): string {
  const rows = waiting.map(
    ({ stored, question }) => html`<li class="server"><h2>${`${stored.server}.${stored.tool}`}</h2>
<p class="quiet">${question.client}, for ${stored.owner.principal}</p>
<div class="buttons"><a class="button" href="${attribute(`/approvals/${stored.id}`)}">Show</a></div></li>`,
  );
  const content = waiting.length === 0 ? html`<p>No request waits for your answer.</p>` : html`<ul>${rows}</ul>`;
  return page("Approvals", html`<h1>Requests that wait for you</h1>${content}`, { user: name });
}

function requestPage(
  { name }: BrowserSession,
  { stored, question }: WaitingRequest,
  token: string | undefined,
): string {
  const { owner, server, tool, state, id } = stored;
  const buttons = question.answers.map((answer) =>
    postForm(
      `/approvals/${id}`,
      { answer, token: token ?? "" },
      html`<button${answer === "once" ? html` class="primary"` : undefined}>${choiceText(answer, question)}</button>`,
    ),
  );
  const who = question.approver === undefined ? "the user" : `a member of the group ${question.approver}, not the user`;
  const end =
    state !== "open"
      ? html`<p role="status">This question is not open any more.</p>`
      : token === undefined
        ? html`<p class="warn" role="status">You cannot answer your own request: ${who} answers. Send this address to one of them.</p>`
        : html`<div class="buttons">${buttons}</div>`;
  const argumentLines = Object.entries(question.args).map(
    ([key, value]) => html`<dt>${key}</dt><dd>${whole(typeof value === "string" ? value : JSON.stringify(value))}</dd>`,
  );
  return page(
    `May ${server}.${tool} run?`,
    html`<h1>May ${`${server}.${tool}`} run?</h1>
<dl><dt>Program</dt><dd>${question.client}</dd><dt>User</dt><dd>${owner.principal}</dd>
<dt>Because</dt><dd>${question.reason}</dd><dt>Who answers</dt><dd>${who}</dd></dl>
<h2>Arguments</h2><dl>${argumentLines}</dl><p class="quiet">Digest of all arguments: ${question.digest}</p>${end}
<p><a href="/approvals">All requests</a></p>`,
    { user: name },
  );
}

function answeredPage({ name }: BrowserSession, answer: ConsentAnswer): string {
  const words =
    answer === "no"
      ? "The request does not run."
      : "The request runs when its program sends it again. You can close this page.";
  return page(
    "Answered",
    html`<h1>Answered</h1><p class="ok" role="status">${words}</p><p><a href="/approvals">All requests</a></p>`,
    { user: name },
  );
}

/** Longest value that is shown, in characters, and in how long pieces: a template shortens longer texts. */
const longest = 20_000;
const pieceLength = 400;

/** A value in full length, so that no person approves what they do not see. */
function whole(text: string): readonly Html[] {
  const pieces = text.slice(0, longest).match(new RegExp(`[^]{1,${pieceLength}}`, "gu")) ?? [];
  const rest = text.length - longest;
  const end = rest > 0 ? [html` <strong class="warn">and ${rest} more characters, which are not shown</strong>`] : [];
  return [...pieces.map((piece) => html`${piece}`), ...end];
}
