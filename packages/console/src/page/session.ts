/**
 * The page's permission to talk to its server. The address that opens the page has a code that works once, after the
 * `#`, where no request and no log contains it. The page takes it out of the address before anything else, exchanges it
 * for a bearer, and keeps that for this tab alone. Cookies would be sent to every other program on 127.0.0.1.
 */

import type { SessionAnswer, SessionRequest } from "../protocol/http.ts";

export interface PageSession {
  readonly bearer: string;
  /** `question`: the page shows one question, and may do nothing else. */
  readonly kind: "console" | "question";
  /** The name by which the tabs of this console find each other. */
  readonly channel: string;
}

/** The session, or why there is none. `refused`: the code was used before, is wrong or too old. */
export type Opened =
  | ({ readonly state: "open" } & PageSession)
  | { readonly state: "refused" | "absent" | "unreachable"; readonly message?: string };

/** Exchanges the code of the address, or continues the session of this tab. */
export async function openSession(signal?: AbortSignal): Promise<Opened> {
  const { pathname, hash } = location;
  const [, code] = /^#k=([\w-]+)$/.exec(hash) ?? [];
  // First: whatever happens below, the code is no longer in the address or in the browser's history.
  if (code !== undefined) history.replaceState(null, "", pathname);
  const stored = readStored(pathname);
  if (code === undefined) return stored === undefined ? { state: "absent" } : { state: "open", ...stored };
  const body: SessionRequest = { code, path: pathname };
  let response: Response;
  try {
    response = await fetch("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  } catch {
    // The code is still worth something: a reload tries it again.
    history.replaceState(null, "", pathname + hash);
    return { state: "unreachable" };
  }
  // The server answers in its own words: for a question's page it says who has the question.
  if (!response.ok) return { state: "refused", message: await failureMessage(response) };
  const session = (await response.json()) as SessionAnswer;
  sessionStorage.setItem(keyOf(pathname), JSON.stringify(session));
  return { state: "open", ...session };
}

/** Forgets the session of this tab, because the server no longer accepts it. */
export function dropSession(): void {
  sessionStorage.removeItem(keyOf(location.pathname));
}

function readStored(pathname: string): PageSession | undefined {
  const text = sessionStorage.getItem(keyOf(pathname));
  return text === null ? undefined : (JSON.parse(text) as PageSession);
}

function keyOf(pathname: string): string {
  return `fairlead session ${pathname}`;
}

async function failureMessage(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { readonly error: { readonly message: string } };
    return error.message;
  } catch {
    return `the server answered with status ${response.status}`;
  }
}
