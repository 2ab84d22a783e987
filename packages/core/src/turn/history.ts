/** Keeps the history in an order that models' APIs accept: every call is directly followed by its response. */

import type { Content, Part } from "../normalise/model-types.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import type { ConversationState } from "./conversation.ts";

/** The messages of a conversation. */
export type History = readonly Content[];

export function callsIn({ parts }: Content): readonly NonNullable<Part["functionCall"]>[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? []);
}

/** Returns the text of a message, without the model's thoughts. */
export function answerText({ parts }: Content): string {
  return parts.flatMap(({ text, thought }) => (thought === true ? [] : (text ?? []))).join("");
}

type HistoryOwner = Pick<ConversationState, "history" | "record">;

/** Adds messages in one step. A model's message without parts is not added, because some APIs reject it. */
export function addContents(owner: HistoryOwner, ...contents: readonly Content[]): void {
  const added = contents.filter(({ role, parts }) => role === "user" || parts.length > 0);
  if (added.length === 0) return;
  for (const content of added) owner.record({ type: "content", content });
  owner.history = [...owner.history, ...added];
}

/** Restores an earlier state of the history, even if the history was compacted in the meantime. */
export function rewind(owner: HistoryOwner, before: History): void {
  if (owner.history === before) return;
  if (beginsWith(owner.history, before)) {
    owner.record({ type: "rewind", to: before.length });
    owner.history = before;
  } else replaceHistory(owner, before);
}

/** Replaces the history by these messages. The recorded conversation also keeps the replaced messages. */
export function replaceHistory(owner: HistoryOwner, contents: History): void {
  owner.record({ type: "compact", contents });
  owner.history = contents;
}

/** Whether the history begins with exactly these message objects. */
export function beginsWith(history: History, beginning: History): boolean {
  return beginning.every((content, at) => history[at] === content);
}

/** The estimated number of tokens of messages. */
export interface HistoryTokens {
  readonly total: number;
  /** The tokens that responses to calls take. */
  readonly results: number;
}

/** Most models use about this many tokens for a picture. */
const mediaTokens = 300;
const countedTokens = new WeakMap<Content, HistoryTokens>();

/** Estimates the tokens of all messages. */
export function tokensOfHistory(history: History): HistoryTokens {
  const each = history.map(tokensOfContent);
  const sum = (key: keyof HistoryTokens): number => each.reduce((so, tokens) => so + tokens[key], 0);
  return { total: sum("total"), results: sum("results") };
}

/** The tokens of one message. Messages never change, so each is counted only once. */
function tokensOfContent(content: Content): HistoryTokens {
  const counted = countedTokens.get(content);
  if (counted !== undefined) return counted;
  let total = 0;
  let results = 0;
  for (const { text = "", functionCall, functionResponse, inlineData } of content.parts) {
    const response = functionResponse?.response;
    const result = response === undefined ? 0 : estimateTokens(JSON.stringify(response));
    const media = (inlineData === undefined ? 0 : 1) + (functionResponse?.parts?.length ?? 0);
    const call = functionCall === undefined ? "" : JSON.stringify([functionCall.name, functionCall.args]);
    total += estimateTokens(text) + estimateTokens(call) + result + media * mediaTokens;
    results += result;
  }
  countedTokens.set(content, { total, results });
  return { total, results };
}

/** Whether the user's last message has no answer yet. */
export function isUnanswered(history: History): boolean {
  const last = history.at(-1);
  return last?.role === "user" && last.parts.every(({ functionResponse }) => functionResponse === undefined);
}

/** Adds responses to calls that have none, because a history from another program may end in the middle of a call. */
export function answerOpenCalls(history: History): History {
  return history.flatMap((content, at) => {
    const calls = content.role === "model" ? callsIn(content) : [];
    const next = history[at + 1];
    const isAnswered = next?.parts.some(({ functionResponse }) => functionResponse !== undefined) === true;
    if (calls.length === 0 || isAnswered) return [content];
    return [content, ...responseContents(calls, [])];
  });
}

const unknown = "The result of this call is not known: it may or may not have run.";

/** The response to one call. `beside` has the media that cannot be part of a response. */
export interface CallResponse {
  readonly part: Part;
  readonly beside: readonly Part[];
}

/**
 * Creates the messages that respond to all calls of one message. If a response is missing, tells the model that the
 * call may or may not have run.
 */
export function responseContents(
  calls: readonly NonNullable<Part["functionCall"]>[],
  responses: readonly (CallResponse | undefined)[],
): readonly Content[] {
  const parts = calls.map((call, at) => responses[at]?.part ?? toResponse(call, { error: unknown }));
  const beside = responses.flatMap((each) => each?.beside ?? []);
  // A message with responses may have no other parts, so media go into a separate message.
  return [{ role: "user", parts }, ...(beside.length === 0 ? [] : [{ role: "user" as const, parts: beside }])];
}

/** Creates the response to a call, with the call's id if it has one. */
export function toResponse(
  { id, name = "" }: NonNullable<Part["functionCall"]>,
  response: Record<string, unknown>,
  media: readonly Part[] = [],
): Part {
  const parts = media.map(({ inlineData = {} }) => ({ inlineData }));
  return {
    functionResponse: { id, name, response, parts: parts.length > 0 ? parts : undefined },
  };
}
