/** Shows the person where to sign in, opens the browser if they want that, and waits for the answer by whichever way it comes. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import type { SignInPlan } from "../oauth/discovery.ts";
import { authCommand, calledOff, type Fail } from "../oauth/failure.ts";
import { otherTokenHost } from "../oauth/token-host.ts";
import { askForPaste } from "./paste.ts";
import type { RedirectListener } from "./redirect-listener.ts";
import type { ConsentRequest, SignInUi } from "./sign-in-ui.ts";

export interface AwaitOptions {
  readonly serverName: string;
  readonly oauth: OAuthSettings;
  readonly plan: SignInPlan;
  readonly scopes: readonly string[];
  readonly url: string;
  readonly state: string;
  readonly listener: RedirectListener;
  readonly ui: SignInUi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fail: Fail;
}

const minutes = 5;

export async function awaitAnswer(options: AwaitOptions): Promise<URLSearchParams> {
  const { serverName, listener, ui, clock, signal, fail } = options;
  const { redirectUri } = listener;
  if (listener.answer === undefined && ui.paste === undefined)
    throw fail("the listener", `nobody listens at ${redirectUri}, and there is no terminal to paste the answer into`);
  const over = new AbortController();
  const callOff = clock.after(minutes * 60_000, () =>
    over.abort(fail("the browser", `no answer came back within ${minutes} minutes`)),
  );
  const ended = AbortSignal.any([signal, over.signal]);
  try {
    await invite(options, ended);
    const routes = [listener.answer, pasted(options, ended)].filter((way) => way !== undefined);
    return await Promise.race([...routes, endOf(ended, serverName)]);
  } finally {
    callOff();
    // Also for who still waits for a paste.
    over.abort();
  }
}

async function invite(
  { serverName, oauth, plan, scopes, url, listener, ui }: AwaitOptions,
  signal: AbortSignal,
): Promise<void> {
  const { issuer, endpoints } = plan;
  const tokenHost = otherTokenHost(issuer, endpoints.token);
  const request: ConsentRequest = {
    serverName,
    url,
    domain: new URL(url).hostname,
    issuer,
    ...(tokenHost !== undefined && { tokenHost }),
    scopes,
  };
  const { show, consent, openBrowser, browserFirst, paste } = ui;
  const where = {
    redirectUri: listener.redirectUri,
    isListening: listener.answer !== undefined,
    canPaste: paste !== undefined,
  };
  show({ kind: "address", ...request, ...where });
  if (!browserFirst || openBrowser === undefined) return;
  const isWanted =
    oauth.enabled === true ||
    (await unlessEnded(consent?.(request, signal) ?? Promise.resolve(undefined), signal, serverName));
  if (isWanted === false) throw refusedHere(serverName);
  if (isWanted === true) show({ kind: "browser", isOpened: await openBrowser(url) });
}

/** When nothing more can be pasted it stays open as long as somebody listens: the other way may still be taken. */
async function pasted({ state, listener, ui, fail }: AwaitOptions, signal: AbortSignal): Promise<URLSearchParams> {
  const { redirectUri } = listener;
  const { paste, show } = ui;
  if (paste === undefined) return new Promise(() => {});
  const onUnusable = (reason: string): void => show({ kind: "paste_unusable", reason });
  const outcome = await askForPaste({ paste, state, redirectUri, onUnusable, signal });
  if (outcome.kind === "answer") return outcome.answer;
  if (listener.answer === undefined)
    throw fail("the browser", `the address at which it ended did not come: ${outcome.reason}`);
  if (!signal.aborted) show({ kind: "paste_over", reason: outcome.reason });
  return new Promise(() => {});
}

function unlessEnded<T>(work: Promise<T>, signal: AbortSignal, serverName: string): Promise<T> {
  return Promise.race([work, endOf(signal, serverName)]);
}

function endOf(signal: AbortSignal, serverName: string): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason instanceof HostError ? signal.reason : calledOff(serverName));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function refusedHere(serverName: string): HostError {
  return new HostError(
    "auth_required",
    `"${serverName}" wants you to sign in; the browser was not opened, as you wished`,
    {
      serverName,
      next: authCommand(serverName),
    },
  );
}
