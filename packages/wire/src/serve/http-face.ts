/**
 * Handles HTTP requests that `admit` has accepted: detects the protocol era, finds the session, refuses invalid
 * messages.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { legacyVersions, listenMethod, modernErrors, modernVersions } from "../eras/protocol.ts";
import type { OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import type { Era } from "../session.ts";
import { isObject, parseJson, stringOf } from "../shapes/json.ts";
import { type HttpAdmitted, refuse } from "./http-admission.ts";
import type { HttpOwner } from "./http-owners.ts";
import { createHttpRequest, type HttpSession } from "./http-session.ts";
import { type HttpSessions, otherProcess, sessionMethods } from "./http-sessions.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";
import { eraOf, headerProblem, messageHeadersIn } from "./modern-headers.ts";
import { answerEmpty, answerJson, PostAnswer, prefersEvents } from "./post-answer.ts";

/** The protocol eras to serve, and the functions that serve a client. */
export interface HttpFaceOptions<Context> {
  readonly eras: readonly Era[];
  /**
   * Called for each legacy session and each modern request. If the promise rejects, that session or request ends. Its
   * open requests get HTTP status 503.
   */
  readonly onClient: (open: OpenChannel, era: Era, context: Context) => void | Promise<void>;
  /** Returns the input schema of a tool, or undefined. The schema says which arguments must also be sent as headers. */
  readonly schemaOf?: (context: Context, tool: string) => unknown;
  /** Shares legacy sessions with other processes. Default: each session belongs to this process. */
  readonly sessions?: HttpSessions<Context>;
}

interface Body {
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

interface Posted {
  readonly message: RpcMessage;
  readonly size: number;
  readonly headers: IncomingHttpHeaders;
  readonly owner: HttpOwner;
}

/** Handles one HTTP request of an accepted client, and writes the response. */
export interface HttpFace<Context> {
  takePost(body: Body, response: ServerResponse, owner: HttpOwner, client: HttpAdmitted<Context>): void | Promise<void>;
  /** Handles GET, which opens the stream of a session, and DELETE, which ends the session. */
  takeOther(
    request: IncomingMessage,
    response: ServerResponse,
    owner: HttpOwner,
    client: HttpAdmitted<Context>,
  ): void | Promise<void>;
}

const sessionHeader = "mcp-session-id";

export function createHttpFace<Context>({
  eras,
  onClient,
  schemaOf,
  sessions,
}: HttpFaceOptions<Context>): HttpFace<Context> {
  function takePost(
    { text, headers }: Body,
    response: ServerResponse,
    owner: HttpOwner,
    { context, refusal }: HttpAdmitted<Context>,
  ) {
    const message = parseJson(text);
    if (message === undefined)
      return answerJson(response, 400, errorResponse(null, messageErrors.parse, "the request body is not JSON"));
    if (!isObject(message) || !isMessage(message)) {
      const words = "the request body is not a single JSON-RPC message";
      return answerJson(response, 400, errorResponse(null, messageErrors.invalidRequest, words));
    }
    const refused = typeof message["method"] === "string" ? refusal?.(message["method"]) : undefined;
    if (refused !== undefined) return refuse(response, refused);
    const era = eraOf(message, headers);
    if (!eras.includes(era)) return refuseEra(message, response);
    const posted = { message, size: text.length, headers, owner };
    return era === "modern" ? takeModern(posted, response, context) : takeLegacy(posted, response, context);
  }

  function takeModern({ message, size, headers, owner }: Posted, response: ServerResponse, context: Context) {
    const id = requestId(message);
    if (id === undefined) return answerEmpty(response, 202);
    const problem = headerProblem(message, headers, schemaOf && ((tool) => schemaOf(context, tool)));
    if (problem) return answerJson(response, 400, errorResponse(id, problem.code, problem.message, problem.data));
    const leave = owner.enter(message["method"] === listenMethod ? "streams" : "requests");
    if (leave === undefined) return refuseBusy(id, response);
    const answer = new PostAnswer(response, {
      headers: {},
      asEvents: prefersEvents(headers),
      unread: owner.unread,
      onEnd() {
        leave();
        owner.answers.delete(answer);
      },
      onAbandoned: () => request.abandon(),
    });
    owner.answers.add(answer);
    const request = createHttpRequest(message, size, answer, messageHeadersIn(headers));
    serve(request.open, "modern", context, request.abandon);
  }

  async function takeLegacy({ message, size, headers, owner }: Posted, response: ServerResponse, context: Context) {
    const id = requestId(message);
    const version = stringOf(headers["mcp-protocol-version"]);
    const given = stringOf(headers[sessionHeader]);
    const isFirst = message["method"] === "initialize";
    const refuse = (status: number, code: number, words: string): void =>
      answerJson(response, status, errorResponse(id ?? null, code, words));
    if (isFirst && id === undefined)
      return refuse(400, messageErrors.invalidRequest, "the initialize request has no id");
    if (!isFirst && given === undefined)
      return refuse(400, messageErrors.noSession, `the header ${sessionHeader} is missing: send initialize first`);
    if (!isFirst && version !== undefined && !legacyVersions.includes(version))
      return refuse(400, messageErrors.noSession, "the protocol version in the header is not supported");
    // Awaited only if sessions are shared: a client's messages are taken in their order.
    const news = sessions?.caughtUp(given ?? "");
    if (news !== undefined) await news;
    const session = isFirst
      ? undefined
      : (owner.findSession(given ?? "") ?? (sessions && (await reopened(sessions, given, owner, context))));
    if (session === "busy") return refuseBusy(id ?? null, response);
    if (!isFirst && session === undefined)
      return refuse(404, messageErrors.unknownSession, "unknown session: send initialize again");
    if (id === undefined && session !== undefined) {
      const other = sessions && otherProcess(message, session, sessions.process);
      if (other === undefined) return answerEmpty(response, session.take(message, size) ? 202 : 503);
      sessions?.pass(given ?? "", message, other === "all" ? undefined : other);
      return answerEmpty(response, 202);
    }
    if (id === undefined) return answerEmpty(response, 503);
    if (session?.has(id)) return refuse(400, messageErrors.invalidRequest, "a request with this id is already open");
    const found =
      session === undefined ? owner.createSession(sessions?.idOf(context, message)) : { id: given ?? "", session };
    const leave = found && owner.enter("requests", found.id);
    if (found === undefined || leave === undefined) {
      if (session === undefined) found?.session.end();
      return refuseBusy(id, response);
    }
    const answer = new PostAnswer(response, {
      headers: { [sessionHeader]: found.id },
      asEvents: prefersEvents(headers),
      unread: owner.unread,
      onEnd: leave,
      // In the legacy protocol era, a request goes on when its connection is lost. But without the response to
      // `initialize`, the client does not know the session.
      onAbandoned: isFirst ? found.session.end : undefined,
    });
    if (session !== undefined && sessionMethods.has(message["method"])) await sessions?.changed(found.id, message);
    if (!found.session.take(message, size, answer, messageHeadersIn(headers))) answer.end();
    if (session === undefined) serve(found.session.open, "legacy", context, found.session.end);
  }

  /** Opens a session that another process has begun: its first messages are given to this process too. */
  async function reopened(
    { messagesOf }: HttpSessions<Context>,
    given: string | undefined,
    owner: HttpOwner,
    context: Context,
  ): Promise<HttpSession | "busy" | undefined> {
    const messages = given === undefined ? undefined : await messagesOf(context, given);
    if (given === undefined || messages === undefined) return undefined;
    // Another request may have opened it meanwhile.
    const opened = owner.findSession(given);
    if (opened !== undefined) return opened;
    const session = owner.createSession(given)?.session;
    if (session === undefined) return "busy";
    // No client waits here for the answers: the client has them from the process that it asked.
    for (const message of messages) session.take(message, 0);
    serve(session.open, "legacy", context, session.end);
    return session;
  }

  function serve(open: OpenChannel, era: Era, context: Context, end: () => void): void {
    const serving = onClient(open, era, context);
    if (serving instanceof Promise) serving.catch(end);
  }

  function refuseEra(message: RpcMessage, response: ServerResponse): void {
    const id = requestId(message) ?? null;
    const isModern = eras.includes("modern");
    const [code, supported] = isModern
      ? [modernErrors.unsupportedVersion, modernVersions]
      : [messageErrors.noSession, legacyVersions];
    const words = `this server supports the protocol versions ${supported.join(", ")}`;
    answerJson(response, 400, errorResponse(id, code, words, { supported }));
  }

  return {
    takePost,
    async takeOther({ method, headers }, response, owner, { context }) {
      const id = stringOf(headers[sessionHeader]);
      if (id === undefined) return answerEmpty(response, 405, { allow: "POST" });
      const news = sessions?.caughtUp(id);
      if (news !== undefined) await news;
      const session = owner.findSession(id) ?? (sessions && (await reopened(sessions, id, owner, context)));
      if (session === undefined) return answerEmpty(response, 404);
      if (session === "busy") return answerEmpty(response, 429);
      if (method === "DELETE") {
        session.end();
        if (sessions !== undefined) await sessions.ended(context, id);
        return answerEmpty(response, 200);
      }
      const leave = owner.enter("streams");
      if (leave === undefined) return answerEmpty(response, 429);
      response.once("close", leave);
      if (!session.listen(response, { [sessionHeader]: id })) answerEmpty(response, 409);
    },
  };
}

function refuseBusy(id: RequestId | null, response: ServerResponse): void {
  const words = "this client has too many open requests, streams or sessions";
  answerJson(response, 429, errorResponse(id, messageErrors.noSession, words));
}

function isMessage({ method, id, result, error }: RpcMessage): boolean {
  if (method !== undefined) return typeof method === "string";
  return id !== undefined && (result !== undefined || error !== undefined);
}

function requestId({ id, method }: RpcMessage): RequestId | undefined {
  return typeof method === "string" && (typeof id === "string" || typeof id === "number") ? id : undefined;
}
