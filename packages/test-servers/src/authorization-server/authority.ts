/** What every endpoint receives: the server's issuer, its settings, its store and its clock. */

import type { WebRequest } from "../web-server.ts";
import type { Answer } from "./answer.ts";
import type { AuthorizationSettings } from "./settings.ts";
import type { Store } from "./store.ts";

export interface Authority {
  readonly issuer: string;
  readonly settings: AuthorizationSettings;
  readonly store: Store;
  /** Returns the time of the server's clock, in milliseconds since 1970. */
  readonly now: () => number;
}

export interface Call {
  readonly request: WebRequest;
  /** The parameters of the query and, if there is one, of the form. */
  readonly params: URLSearchParams;
}

export type Handler = (call: Call, authority: Authority) => Answer | Promise<Answer>;

export function readCall(request: WebRequest): Call {
  const params = new URL(request.path, "http://any").searchParams;
  if (request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) {
    for (const [name, value] of new URLSearchParams(request.body)) params.append(name, value);
  }
  return { request, params };
}

export function scopesIn(params: URLSearchParams): readonly string[] {
  return params.get("scope")?.split(" ").filter(Boolean) ?? [];
}
