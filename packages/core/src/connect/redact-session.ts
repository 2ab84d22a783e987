/**
 * Hides a server's secrets in everything that its session returns, because a server may repeat its secrets anywhere.
 */

import type { JsonObject, McpRequestOptions, NotificationListener, RequestHandler, Session } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { isWireError } from "../net/fetch-failure.ts";
import { createTurns, type Turns } from "../text/turns.ts";
import { hideNothing, type Redact } from "./redact.ts";

/** Three functions that hide one server's secrets. The first one hides the most, the last one the least. */
export interface SessionRedaction {
  /** Hides secrets, and text that looks like a secret, for messages to people. */
  readonly redact: Redact;
  /** Hides only values that are certainly secret, for text that programs and models read. */
  readonly hideValues: Redact;
  /**
   * Hides only secret values that cannot be ordinary names. Fairlead drops a tool, prompt or resource whose name
   * contains such a value.
   */
  readonly hideUnmistakable: Redact;
}

/** Methods whose results are lists or descriptions, each with the member of the result that contains the list. */
const lists: ReadonlyMap<string, string | undefined> = new Map([
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["server/discover", undefined],
]);

/**
 * Members that Fairlead sends back to the server (`uri`) or uses to validate data (`pattern`). They stay unchanged,
 * because they would not work with a hidden part.
 */
const identifiers: ReadonlySet<string> = new Set([
  ..."name uri uriTemplate url nextCursor mimeType type enum const pattern format required".split(" "),
  ..."$ref $id $anchor $schema requestState".split(" "),
]);

/**
 * A session that hides secrets in lists, errors, progress and instructions. Results of calls and reads stay unchanged.
 */
export function redactSession<T extends Session>(session: T, redaction: SessionRedaction): T {
  const { hideValues, hideUnmistakable } = redaction;
  const { instructions, serverInfo } = session;
  const hasSecrets = hideValues !== hideNothing || hideUnmistakable !== hideNothing;
  return {
    ...session,
    instructions: instructions === undefined ? undefined : hideValues(instructions),
    serverInfo: hideInTexts({ ...serverInfo }, hideValues, new Set()),
    request(method: string, params?: JsonObject, options?: McpRequestOptions) {
      const answer = session.request(method, params, withRedaction(options, redaction));
      const isSearched = hasSecrets && lists.has(method);
      return (isSearched ? answer.then((list) => hidden(list, method, options)) : answer).catch(fail);
    },
  };

  async function hidden(list: JsonObject, method: string, options?: McpRequestOptions): Promise<JsonObject> {
    const shown = await hideInList(list, hideValues);
    return withoutLeaks(shown, lists.get(method), hideUnmistakable, options?.onDropped);
  }

  function fail(error: unknown): never {
    hideInError(error, redaction);
    throw error;
  }
}

/** Wraps a listener so that secrets in the server's log messages are hidden. */
export function redactNotifications(listener: NotificationListener, redact: Redact): NotificationListener {
  return (method, params) =>
    listener(method, method === "notifications/message" ? hideInTexts(params, redact, new Set()) : params);
}

/** Wraps a handler so that secrets in the server's requests are hidden. */
export function redactRequests(handler: RequestHandler, hideValues: Redact): RequestHandler {
  return (method, params, signal, origin) => handler(method, hideInTexts(params, hideValues), signal, origin);
}

/** Hides secrets in everything that the server sends while the request is open. */
function withRedaction(
  options: McpRequestOptions | undefined,
  { redact, hideValues }: SessionRedaction,
): McpRequestOptions | undefined {
  const { onProgress, onNotification, answer } = options ?? {};
  if (onProgress === undefined && onNotification === undefined && answer === undefined) return options;
  // Copies `options` only once, because every further copy would slow down the request.
  const redacted: { -readonly [Name in keyof McpRequestOptions]: McpRequestOptions[Name] } = { ...options };
  if (onProgress)
    redacted.onProgress = (progress) =>
      onProgress(progress.message === undefined ? progress : { ...progress, message: redact(progress.message) });
  if (onNotification) redacted.onNotification = redactNotifications(onNotification, redact);
  if (answer) redacted.answer = redactRequests(answer, hideValues);
  return redacted;
}

function hideInTexts<T extends object>(value: T, hide: Redact, kept: ReadonlySet<string> = identifiers): T {
  for (const _ of hiding(value, hide, kept));
  return value;
}

/**
 * Like `hideInTexts`, but lets other code run in between, because a page of a list may contain millions of short texts.
 */
async function hideInList<T extends object>(value: T, hide: Redact): Promise<T> {
  const turns = createTurns();
  for (const size of hiding(value, hide, identifiers)) {
    const turn = turns.done(size);
    if (turn) await turn;
  }
  return value;
}

/** Counted for each member in addition to its text, in characters, because each member also takes time. */
const memberSize = 16;

/**
 * Hides secrets in `value` itself, not in a copy. Yields the size of each member in characters, so that the caller can
 * pause after much work and let other code run.
 */
function* hiding(value: object, hide: Redact, kept: ReadonlySet<string>): Generator<number, void> {
  const open: object[] = [value];
  for (const each of open)
    for (const [key, inner] of membersOf(each)) {
      const isText = typeof inner === "string";
      if (kept.has(key) && (isText || Array.isArray(inner))) continue;
      if (isText) replaceMember(each, key, inner, hide(inner));
      else if (typeof inner === "object" && inner !== null) open.push(inner);
      yield isText ? inner.length + memberSize : memberSize;
    }
}

/** The members of an object or array. For a long array, `Object.entries` would need much memory for all pairs. */
function* membersOf(owner: object): Generator<readonly [string, unknown], void> {
  if (Array.isArray(owner)) for (let at = 0; at < owner.length; at += 1) yield [String(at), owner[at]];
  else yield* Object.entries(owner);
}

/**
 * Drops tools, prompts and resources that contain a secret in a place where it cannot be hidden, such as the name. A
 * call with a hidden name would fail.
 */
async function withoutLeaks(
  result: JsonObject,
  member: string | undefined,
  hide: Redact,
  onDropped: McpRequestOptions["onDropped"],
): Promise<JsonObject> {
  const entries: unknown = member === undefined ? undefined : result[member];
  if (member === undefined || !Array.isArray(entries)) return result;
  const turns = createTurns();
  const kept: unknown[] = [];
  for (const entry of entries as readonly unknown[]) {
    if (!(await containsSecret(entry, hide, turns))) {
      kept.push(entry);
      continue;
    }
    const { name } = isObject(entry) ? entry : {};
    onDropped?.({
      name: typeof name === "string" && hide(name) === name ? name : undefined,
      reason: "a name, key, URI or schema value contains a secret of this server",
    });
  }
  return kept.length === entries.length ? result : { ...result, [member]: kept };
}

/**
 * Whether a key or value contains a secret. Lets other code run in between, because the value may be large. Not
 * recursive, because the value may be nested deeply.
 */
async function containsSecret(value: unknown, hide: Redact, turns: Turns): Promise<boolean> {
  const isSecret = (text: string): boolean => hide(text) !== text;
  const open: unknown[] = [value];
  for (const each of open) {
    if (typeof each === "object" && each !== null)
      for (const [key, inner] of membersOf(each)) {
        if (!Array.isArray(each) && isSecret(key)) return true;
        open.push(inner);
      }
    else if ((typeof each === "string" || typeof each === "number") && isSecret(String(each))) return true;
    const turn = turns.done(memberSize + (typeof each === "string" ? each.length : 0));
    if (turn) await turn;
  }
  return false;
}

function replaceMember(owner: object, key: string, before: unknown, after: unknown, enumerable = true): void {
  if (after !== before)
    Object.defineProperty(owner, key, { value: after, enumerable, configurable: true, writable: true });
}

/** Hides secrets in an error and its causes. Changes the error objects themselves. */
export function hideInError(
  error: unknown,
  { redact, hideValues }: Pick<SessionRedaction, "redact" | "hideValues">,
): void {
  const seen = new Set<unknown>();
  for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each);
    replaceMember(each, "message", each.message, redact(each.message), false);
    if (each.stack !== undefined) replaceMember(each, "stack", each.stack, redact(each.stack), false);
    if (!isWireError(each)) continue;
    const { stderr, firstBytes, rpc, ...rest } = each.evidence;
    replaceMember(each, "evidence", undefined, {
      ...rest,
      stderr: stderr === undefined ? undefined : redact(stderr),
      firstBytes: firstBytes === undefined ? undefined : redact(firstBytes),
      rpc: rpc && hideInTexts({ ...rpc }, hideValues),
    });
  }
}
