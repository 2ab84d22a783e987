/**
 * How the page talks to its server, over HTTP/1.1 on 127.0.0.1. Nothing here uses cookies.
 *
 * The address. `http://127.0.0.1:PORT/#k=CODE` opens the console, `http://127.0.0.1:PORT/question/ID#k=CODE` the page of one
 * question. Both answer with the same document; `location.pathname` tells them apart. The code is valid for 60 seconds
 * and can be used once. The page first takes it out of the address with `history.replaceState`, and then exchanges it:
 *
 *     POST /api/session                          content-type: application/json
 *     { "code": CODE, "path": location.pathname }
 *     200 { "bearer": TEXT, "kind": "console" | "question", "channel": TEXT }          401: used, expired or wrong
 *
 * The page keeps the bearer in `sessionStorage`, under the pathname, so that a reload keeps its session. A bearer ends
 * with its console; then every request is answered with 401, and the page says how to open it again. The session of a
 * question's page knows this question alone: its snapshot has no servers, and `questions/answer` is its only command.
 * Only the first exchange for a question succeeds: a later one gets 401, and 404 if the question is no longer open. A page whose
 * bearer has ended learns why from an exchange with an empty code.
 *
 * Events.
 *
 *     GET /api/events                            authorization: Bearer BEARER
 *                                                last-event-id: N          (to resume after event N)
 *     200 text/event-stream
 *
 * Each event is `id: N`, `data: JSON of a ConsoleEvent` and an empty line; JSON has no line breaks. Numbers increase by
 * one. Without `last-event-id` the first event is a `snapshot`; it has the number of the last event that it contains, and
 * the next event has the next number. With it, the stream goes on after that event. If the server no longer has what
 * follows, the first event is a `snapshot` with `isReset`. This can also happen in an open stream, if the page reads too
 * slowly. A line `:` comes every 15 seconds: a stream without any line for 40 seconds is dead. `event: closed` without an
 * id says that the console was closed on purpose: the page does not connect again.
 *
 * A browser opens at most six connections to a server, for all its tabs: the stream is the only request that stays open,
 * and the tabs of one console share one. They find each other by `channel`, a name of a `BroadcastChannel` and of a lock.
 * A tab that was not passed an event fetches it: `GET /api/catch-up` is `GET /api/events`, but ends with the latest event.
 *
 * Commands.
 *
 *     POST /api/VERB                             authorization: Bearer BEARER, content-type: application/json
 *     JSON of Params<VERB>                       idempotency-key: 1 to 100 characters of A-Z a-z 0-9 _ -
 *     200 JSON of Result<VERB>                   event-id: N
 *
 * VERB contains its slash, as in `/api/tools/list`. The effects of the command are in the events up to N. A second
 * request with the key of an earlier one runs nothing: it gets the same answer, waits for it if needed, or gets 409 if
 * the server no longer has it. To read again, use another key. Bodies are at most 8 MB.
 *
 * Failures have a JSON body: `CommandFailure`. 400: wrong parameters. 401: no session. 403: another site, or a form, has sent the request.
 * 404: no such address. 409: the key was used by another command, or its answer is gone. 413, 415: too large, not JSON.
 * 421: another host name. 422: the command has failed; `error` says why. 503: too many streams or sessions.
 */

/** The body of `POST /api/session`. `path` is the pathname of the page. */
export interface SessionRequest {
  readonly code: string;
  readonly path: string;
}

/** The answer to `POST /api/session`. */
export interface SessionAnswer {
  readonly bearer: string;
  readonly kind: "console" | "question";
  /** The same for all sessions of this console or question, and a secret as the bearer. */
  readonly channel: string;
}

/** The path of the page of one question, and of the console. */
export type PagePath = "/" | `/question/${string}`;
