/** The way back from the browser: where the authorization server is to send it, and whether somebody listens there. */

import { errorMessage, parseUrl } from "@fairlead/wire/text";
import type { HostError } from "../../errors.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { randomWord } from "../oauth/authorization.ts";
import type { Fail } from "../oauth/failure.ts";
import type { StoredClient } from "../store/credentials.ts";
import { isLoopback, openCallbackServer, portIn } from "./callback-server.ts";
import type { SignInUi } from "./sign-in-ui.ts";

export interface RedirectListener {
  readonly redirectUri: string;
  /** Absent: nobody listens, and only pasting works. */
  readonly answer?: Promise<URLSearchParams>;
  /** Resolves when nobody listens any more. */
  readonly close: () => Promise<void>;
}

export interface RedirectListenerOptions {
  readonly oauth: OAuthSettings;
  readonly client: StoredClient | undefined;
  readonly ui: SignInUi;
  readonly state: string;
  readonly fail: Fail;
}

/** For clients that are known there already: their path must be one that was told beforehand. */
const knownPath = "/oauth/callback";

export async function openRedirectListener({
  oauth,
  client,
  ui,
  state,
  fail,
}: RedirectListenerOptions): Promise<RedirectListener> {
  const { redirectUri } = oauth;
  const { callbackPort: port } = ui;
  if (redirectUri !== undefined) {
    if (parseUrl(redirectUri) === undefined) throw fail("the listener", `"redirectUri" is no address: ${redirectUri}`);
    if (port === undefined && !isLoopback(new URL(redirectUri))) return { redirectUri, close: async () => {} };
    return listening({ redirectUri, port }, state, fail);
  }
  const before = port === undefined ? client?.redirectUri : undefined;
  const again = before === undefined ? undefined : await listenAgain(before, state);
  if (again) return again;
  return listening(
    { path: client !== undefined && client.redirectUri === undefined ? knownPath : `/${randomWord()}`, port },
    state,
    fail,
  );
}

/** Undefined: somebody else listens there now. */
async function listenAgain(redirectUri: string, state: string): Promise<RedirectListener | undefined> {
  try {
    return await openCallbackServer({ state, redirectUri, path: "" });
  } catch {
    return undefined;
  }
}

async function listening(
  {
    redirectUri,
    path = "",
    port,
  }: { readonly redirectUri?: string; readonly path?: string; readonly port: number | undefined },
  state: string,
  fail: Fail,
): Promise<RedirectListener> {
  try {
    const where = { ...(redirectUri !== undefined && { redirectUri }), ...(port !== undefined && { port }) };
    return await openCallbackServer({ state, path, ...where });
  } catch (cause) {
    throw notListening(cause, port ?? (redirectUri === undefined ? undefined : Number(portIn(redirectUri))), fail);
  }
}

function notListening(cause: unknown, port: number | undefined, fail: Fail): HostError {
  const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
  const what = isTaken
    ? `port ${port} is taken by another program`
    : `nothing can listen on this machine: ${errorMessage(cause)}`;
  return fail("the listener", what, {
    cause,
    ...(isTaken && {
      next: "End that program, or set OAUTH_CALLBACK_PORT to a free port (it must suit the redirect URI that is registered).",
    }),
  });
}
