/** Shows the sign-in address, opens the browser if the person agrees, and waits until the sign-in is finished there. */

import { parseUrl } from "@fairlead/wire/text";
import { abortOf, type Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { isState } from "../oauth/authorization.ts";
import { otherTokenHost, type SignInPlan } from "../oauth/discovery.ts";
import { authCommand, type Fail, signInCancelled } from "../oauth/failure.ts";
import type { RedirectListener } from "./callback-server.ts";
import type { ConsentRequest, SignInUi } from "./sign-in-ui.ts";

/** One sign-in in the browser: the address to open, the listener for the redirect, and how to ask the person. */
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

/**
 * Resolves with the parameters of the redirect, from the browser or from the address that the person pasted.
 *
 * @throws HostError `auth_failed`, `auth_required` or `cancelled`
 */
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
    over.abort(fail("browser", `the sign-in was not finished within ${minutes} minutes`)),
  );
  const ended = AbortSignal.any([signal, over.signal]);
  try {
    await invite(options, ended);
    const answers = [listener.answer, pasted(options, ended)].filter((answer) => answer !== undefined);
    return await Promise.race([...answers, endOf(ended, serverName)]);
  } finally {
    cancelTimer();
    over.abort();
  }
}

async function invite(
  { serverName, oauth, plan, scopes, url, listener, ui }: AwaitOptions,
  signal: AbortSignal,
): Promise<void> {
  const { issuer, token_endpoint } = plan.server;
  const request: ConsentRequest = {
    serverName,
    url,
    domain: new URL(url).hostname,
    issuer,
    tokenHost: otherTokenHost(issuer, token_endpoint),
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

/**
 * If the person cannot paste any more, the promise stays pending while Fairlead listens, because the redirect may still
 * arrive.
 */
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
  return abortOf(signal).catch((reason: unknown) => {
    throw reason instanceof HostError ? reason : signInCancelled(serverName);
  });
}

function browserDeclined(serverName: string): HostError {
  return new HostError("auth_required", `"${serverName}" requires sign-in, and you chose not to open the browser`, {
    serverName,
    next: authCommand(serverName),
  });
}

interface PasteOptions {
  readonly paste: (signal: AbortSignal) => Promise<string | undefined>;
  readonly state: string;
  readonly redirectUri: string;
  readonly onUnusable: (reason: string) => void;
  readonly signal: AbortSignal;
}

type Pasted =
  | { readonly kind: "answer"; readonly answer: URLSearchParams }
  | { readonly kind: "unusable"; readonly reason: string };

type PasteOutcome = Extract<Pasted, { kind: "answer" }> | { readonly kind: "over"; readonly reason: string };

/**
 * Fairlead asks at most this many times, because a program instead of a person could answer with wrong text forever.
 */
const mostTries = 100;
const longestPaste = 32_768;

/** Asks until the person pastes a usable address. Gives up when the input ends, or after `mostTries`. */
export async function askForPaste(options: PasteOptions): Promise<PasteOutcome> {
  const { paste, onUnusable, signal } = options;
  for (let tries = 0; tries < mostTries && !signal.aborted; tries += 1) {
    const text = (await paste(signal))?.trim();
    if (text === undefined) return { kind: "over", reason: "the input ended" };
    const pasted = text === "" ? emptyInput(options) : readPasted(text, options);
    if (pasted.kind === "answer") return pasted;
    onUnusable(pasted.reason);
  }
  return { kind: "over", reason: `no usable address in ${mostTries} tries` };
}

function emptyInput({ redirectUri }: PasteOptions): Extract<Pasted, { kind: "unusable" }> {
  return { kind: "unusable", reason: `the input is empty; the address begins with ${redirectUri}` };
}

/**
 * Reads the pasted text: an address, or only its query. Refuses a code without `state`, which may belong to another
 * sign-in.
 */
export function readPasted(text: string, { state, redirectUri }: Pick<PasteOptions, "state" | "redirectUri">): Pasted {
  if (text.length > longestPaste) return { kind: "unusable", reason: "the text is too long for an address" };
  const answer = parametersIn(text, redirectUri);
  if (answer === undefined)
    return {
      kind: "unusable",
      reason: `this is not the address that the browser shows after the sign-in; that address begins with ${redirectUri}`,
    };
  if (!isState(answer.get("state"), state))
    return { kind: "unusable", reason: "this address belongs to another sign-in" };
  return { kind: "answer", answer };
}

function parametersIn(text: string, redirectUri: string): URLSearchParams | undefined {
  const expected = new URL(redirectUri);
  if (parseUrl(text) === undefined) return /^\??[\w.~%+-]+=/.test(text) ? new URLSearchParams(text) : undefined;
  const { origin, pathname, searchParams } = new URL(text);
  return origin === expected.origin && pathname === expected.pathname ? searchParams : undefined;
}
