/** Chooses the redirect URI of a sign-in and listens there if it points to this machine. */

import { errorMessage, parseUrl } from "@fairlead/wire/text";
import type { HostError } from "../../errors.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { randomWord } from "../oauth/authorization.ts";
import type { Fail } from "../oauth/failure.ts";
import type { StoredClient } from "../store/credentials.ts";
import { isLoopback, openCallbackServer, portIn } from "./callback-server.ts";
import type { SignInUi } from "./sign-in-ui.ts";

/** The redirect URI, and the answer that arrives there. */
export interface RedirectListener {
  readonly redirectUri: string;
  /** Absent if the redirect URI points to another machine: then the person must paste the address. */
  readonly answer?: Promise<URLSearchParams>;
  /** Resolves when the port is free again. */
  readonly close: () => Promise<void>;
}

/** Options of `openRedirectListener`. */
export interface RedirectListenerOptions {
  readonly oauth: OAuthSettings;
  readonly client: StoredClient | undefined;
  readonly ui: SignInUi;
  readonly state: string;
  readonly fail: Fail;
}

/** Path for clients that a person registered: it must be documented. Other clients get a random path. */
const knownPath = "/oauth/callback";

/** @throws HostError `auth_failed` if the port is in use or `redirectUri` is not a URL */
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
    if (parseUrl(redirectUri) === undefined)
      throw fail("redirect listener", `"redirectUri" is not a URL: ${redirectUri}`);
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

/** Undefined if another program uses the port now. */
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
    ? `another program uses port ${port}`
    : `Fairlead cannot listen on this machine: ${errorMessage(cause)}`;
  return fail("redirect listener", what, {
    cause,
    ...(isTaken && {
      next: "Stop that program, or set OAUTH_CALLBACK_PORT to a free port that the registered redirect URI allows.",
    }),
  });
}
