/** A person's browser in tests: opens an authorization URL, shows the page, sends the answer and follows redirects. */

import { plainRequest } from "./plain-request.ts";

export interface BrowserChoices {
  /** The person's answer to the question. */
  readonly says?: "approve" | "deny";
  /** Called with the callback address as the browser got it, before the browser opens it. */
  readonly change?: (callback: URL) => void;
  /** False if the person copies the callback address instead of opening it. */
  readonly visits?: boolean;
}

export interface BrowserOutcome {
  /** The last address: the callback, or a page of the authorization server. */
  readonly address: string;
  /** The text of the last page; empty if the callback was not opened. */
  readonly status?: number;
  readonly body?: string;
}

const mostSteps = 10;

export async function browser(
  address: string | URL,
  { says = "approve", change, visits = true }: BrowserChoices = {},
): Promise<BrowserOutcome> {
  const back = new URL(address).searchParams.get("redirect_uri");
  let url = new URL(address);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < mostSteps; step += 1) {
    const isCallback = back !== null && withoutQuery(url) === withoutQuery(new URL(back));
    if (isCallback) change?.(url);
    if (isCallback && !visits) return { address: url.href };
    const { status, location, body } = await plainRequest(url, form);
    const question = form || isCallback ? undefined : /name="request" value="([^"]*)"/.exec(body)?.[1];
    form = undefined;
    if (location !== undefined && !isCallback) url = new URL(location, url);
    else if (question !== undefined) form = new URLSearchParams({ request: question, decision: says });
    else return { address: url.href, status, body };
  }
  throw new Error(`sent from page to page more than ${mostSteps} times`);
}

function withoutQuery({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
