/** Shows the sign-in address, opens the browser if the person agrees, and waits for the redirect or a pasted address. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import type { SignInPlan } from "../oauth/discovery.ts";
import { authCommand, type Fail, signInCancelled } from "../oauth/failure.ts";
import { otherTokenHost } from "../oauth/token-host.ts";
import { askForPaste } from "./paste.ts";
import type { RedirectListener } from "./redirect-listener.ts";
import type { ConsentRequest, SignInUi } from "./sign-in-ui.ts";

/** Options of `awaitAnswer`. */
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

/** The parameters of the redirect. @throws HostError `auth_failed`, `auth_required` or `cancelled` */
export async function awaitAnswer(options: AwaitOptions): Promise<URLSearchParams> {
  const { serverName, listener, ui, clock, signal, fail } = options;
  const { redirectUri } = listener;
  if (listener.answer === undefined && ui.paste === undefined)
    throw fail(
      "redirect listener",
      `Fairlead cannot listen at ${redirectUri}, and there is no terminal to paste the address into`,
    );
  const over = new AbortController();
  const cancelTimer = clock.after(minutes * 60_000, () =>
    over.abort(fail("browser", `the browser did not return within ${minutes} minutes`)),
  );
  const ended = AbortSignal.any([signal, over.signal]);
  try {
    await invite(options, ended);
    const answers = [listener.answer, pasted(options, ended)].filter((answer) => answer !== undefined);
    return await Promise.race([...answers, endOf(ended, serverName)]);
  } finally {
    cancelTimer();
    // Ends a question for a pasted address that is still open.
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
  if (isWanted === false) throw browserDeclined(serverName);
  if (isWanted === true) show({ kind: "browser", isOpened: await openBrowser(url) });
}

/** Never settles after the input has ended while the listener is open: the browser may still return. */
async function pasted({ state, listener, ui, fail }: AwaitOptions, signal: AbortSignal): Promise<URLSearchParams> {
  const { redirectUri } = listener;
  const { paste, show } = ui;
  if (paste === undefined) return new Promise(() => {});
  const onUnusable = (reason: string): void => show({ kind: "paste_unusable", reason });
  const outcome = await askForPaste({ paste, state, redirectUri, onUnusable, signal });
  if (outcome.kind === "answer") return outcome.answer;
  if (listener.answer === undefined) throw fail("browser", `no address was pasted: ${outcome.reason}`);
  if (!signal.aborted) show({ kind: "paste_over", reason: outcome.reason });
  return new Promise(() => {});
}

function unlessEnded<T>(work: Promise<T>, signal: AbortSignal, serverName: string): Promise<T> {
  return Promise.race([work, endOf(signal, serverName)]);
}

function endOf(signal: AbortSignal, serverName: string): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason instanceof HostError ? signal.reason : signInCancelled(serverName));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function browserDeclined(serverName: string): HostError {
  return new HostError("auth_required", `"${serverName}" requires sign-in, and you chose not to open the browser`, {
    serverName,
    next: authCommand(serverName),
  });
}
