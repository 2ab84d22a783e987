/** What a person's browser does with an authorization URL: shows the page, sends the answer, goes where it is sent. */

import { plainRequest } from "./plain-request.ts";

export interface BrowserChoices {
  /** What the person says to the question. */
  readonly says?: "approve" | "deny";
  /** The address to go back to, as the browser got it, before it is visited. */
  readonly change?: (callback: URL) => void;
  /** false: the person copies the address instead of going there. */
  readonly visits?: boolean;
}

export interface BrowserOutcome {
  /** Where it ended: the callback, or a page of the authorization server. */
  readonly address: string;
  /** What is shown at the end; of a callback that was not visited, nothing. */
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
