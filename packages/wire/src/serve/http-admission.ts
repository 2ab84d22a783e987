/** How a listener accepts or refuses a request before its body is read. */

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { JsonObject } from "../session.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";
import { answerEmpty, answerJson } from "./post-answer.ts";

/** How a request is refused. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 429 | 503;
  /** Further headers of the response, such as `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reason and what to do about it, for the body of the response. Default: no body. */
  readonly message?: string;
  /** The body, for a refusal whose form another specification sets. Replaces `message`. */
  readonly body?: JsonObject;
}

/** The parts of an HTTP request that `admit` gets. */
export interface HttpEntry {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The address of the program that has connected, which may be a balancer. */
  readonly remoteAddress: string | undefined;
}

/** An accepted request: its owner, and the context that `onClient` gets. */
export interface HttpAdmitted<Context> {
  readonly owner: string;
  readonly context: Context;
  /** Refuses methods that the client may not use. Called with the method of each of its messages. */
  readonly refusal?: ((method: string) => HttpRefusal | undefined) | undefined;
}

/** What `admit` returns. */
export type HttpAdmission<Context> = HttpRefusal | HttpAdmitted<Context>;

/** The rest of the request's body is not read, so the connection cannot be reused. */
export const closing = { connection: "close" } as const;

/** Answers with a refusal. The rest of the request is not read. */
export function refuse(response: ServerResponse, { status, headers, message, body }: HttpRefusal): void {
  const sent = { ...headers, ...closing };
  const given = body ?? (message === undefined ? undefined : errorResponse(null, messageErrors.noSession, message));
  if (given === undefined) answerEmpty(response, status, sent);
  else answerJson(response, status, given, sent);
}
