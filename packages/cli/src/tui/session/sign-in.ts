/** Signs in to a server from the app, over a separate connection. The questions appear on the screen. */

import type { SignInMessage, SignInUi } from "@fairlead/core/auth";
import { checkHasSignIn } from "@fairlead/core/auth/has-sign-in";
import { openUrl } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { notConnectedError } from "@fairlead/core/server";
import { joinSafe } from "@fairlead/core/text/safe-text";
import { programPlace } from "@fairlead/core/trust";
import { whyNot } from "../../commands/mcp/auth.ts";
import { findServer } from "../../commands/mcp/find-server.ts";
import type { Context } from "../../shell/verb.ts";
import { messageLines, userLocation } from "../../sign-in/message-lines.ts";
import { useHost } from "../../targets/with-host.ts";
import type { AppSession } from "./session.ts";

/** The parts of the app that a sign-in uses, and how the user signs in. */
export interface AppSignInOptions {
  readonly session: Pick<AppSession, "ask" | "note" | "store" | "host">;
  readonly context: Pick<Context, "io" | "globals">;
  /** Whether the user enters a code in a browser on another device (RFC 8628). */
  readonly device: boolean;
}

/**
 * Signs in to a server. Resolves when the server accepts the tokens.
 * @throws HostError with the reason why the sign-in failed
 */
export async function signInFromApp(serverName: string, options: AppSignInOptions): Promise<void> {
  const { session, context } = options;
  const { configuration } = session.host;
  const { server, admission } = findServer(configuration, serverName);
  const before = session.host.states().find(({ name }) => name === serverName);
  if (before !== undefined && (admission.status !== "admitted" || server.definition === undefined))
    throw notConnectedError(before);
  if (server.definition !== undefined) checkHasSignIn(server.definition);
  const ending = new AbortController();
  const ways = screenSignIn(serverName, ending, options);
  const state = await useHost(
    configuration,
    context,
    async (host) => {
      await host.start({ servers: [serverName], signal: AbortSignal.any([ending.signal, context.io.signal]) });
      return host.states().find(({ name }) => name === serverName);
    },
    { signIn: ways },
  )
    .catch((error: unknown) => {
      // If the user stopped the sign-in, that is the reason to report, not the connection's error.
      ending.signal.throwIfAborted();
      throw error;
    })
    .finally(() => ending.abort());
  if (state?.status !== "connected" && state !== undefined) throw whyNot(state);
}

function screenSignIn(
  serverName: string,
  ending: AbortController,
  { session, context: { io }, device }: AppSignInOptions,
): SignInUi {
  const { ask, note, store } = session;
  const location = userLocation(io);
  const browserFirst = location === "desk";
  let messages: readonly SignInMessage[] = [];
  let closeCode = (): void => {};

  function renewQuestion(): void {
    const open = store.get().questions.find((each) => each.kind === "sign_in" && each.serverName === serverName);
    if (open?.kind === "sign_in") store.dispatch({ type: "ask_again", question: { ...open, messages } });
  }

  function cancelled(): HostError {
    return new HostError("cancelled", `sign-in to "${serverName}" cancelled`, { serverName });
  }

  /** Shows the device code until the sign-in has ended or the user stops it. */
  async function showCode(): Promise<void> {
    const closing = new AbortController();
    closeCode = () => closing.abort();
    const signal = AbortSignal.any([closing.signal, ending.signal]);
    await ask("sign_in", { kind: "sign_in", serverName, messages, canPaste: false }, signal);
    if (!signal.aborted) ending.abort(cancelled());
  }

  return {
    browserFirst,
    again: true,
    device,
    openBrowser: (url) => openUrl(url, programPlace(session.host.configuration)),
    show(message) {
      if (message.kind === "signed_in") closeCode();
      if (message.kind === "signed_in" || message.kind === "scopes_differ" || message.kind === "paste_over")
        return note("info", joinSafe(messageLines(message, { location, browserFirst })));
      messages = [...messages, message];
      if (message.kind === "device") void showCode();
      else renewQuestion();
    },
    async consent(consent, signal) {
      const asked = { kind: "url", serverName, message: "", url: consent.url, purpose: "sign_in", consent } as const;
      const answer = await ask("url", asked, signal);
      return answer === "open" ? true : answer === "by_hand" ? undefined : false;
    },
    async paste(signal) {
      const pasted = await ask("sign_in", { kind: "sign_in", serverName, messages, canPaste: true }, signal);
      if (pasted !== undefined) return pasted;
      const reason = cancelled();
      // If the signal is aborted, the sign-in ended elsewhere (in the browser), and the user did not stop it.
      if (!signal.aborted) ending.abort(reason);
      throw reason;
    },
    askClientId: ({ issuer, redirectUri }, signal) =>
      ask("client_id", { kind: "client_id", serverName, issuer, redirectUri }, signal),
    async chooseIssuer(issuers, signal) {
      const message =
        "The server accepts several sign-in services (authorization servers). Which one do you want to use?";
      const at = await ask("choice", { kind: "choice", serverName, message, options: issuers }, signal);
      return (at === undefined ? undefined : issuers[at]) ?? "";
    },
  };
}
