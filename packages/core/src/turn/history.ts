/** Keeps the history in an order that models' APIs accept: every call is directly followed by its response. Pure. */

import type { Content, Part } from "../normalise/model-types.ts";

/** The messages of a conversation. */
export type History = readonly Content[];

export function callsIn({ parts }: Content): readonly NonNullable<Part["functionCall"]>[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? []);
}

/** The text for the user. */
export function answerText({ parts }: Content): string {
  return parts.flatMap(({ text, thought }) => (thought === true ? [] : (text ?? []))).join("");
}

/** Adds the model's answer. A content without parts is not added: some APIs reject it. */
export function addModel(history: History, content: Content): History {
  return content.parts.length === 0 ? history : [...history, content];
}

/** Whether the user's last message has no answer. */
export function isUnanswered(history: History): boolean {
  const last = history.at(-1);
  return last?.role === "user" && last.parts.every(({ functionResponse }) => functionResponse === undefined);
}

/** Adds responses to calls without one: a history from elsewhere may end in the middle of a call. */
export function answerOpenCalls(history: History): History {
  return history.flatMap((content, at) => {
    const calls = content.role === "model" ? callsIn(content) : [];
    const next = history[at + 1];
    const isAnswered = next?.parts.some(({ functionResponse }) => functionResponse !== undefined) === true;
    if (calls.length === 0 || isAnswered) return [content];
    const response = { error: "The result of this call is not known." };
    return [content, { role: "user" as const, parts: calls.map((call) => toResponse(call, response)) }];
  });
}

/** Makes the response of a call, with the call's id if it has one. */
export function toResponse(
  { id, name = "" }: NonNullable<Part["functionCall"]>,
  response: Record<string, unknown>,
  media: readonly Part[] = [],
): Part {
  const parts = media.map(({ inlineData = {} }) => ({ inlineData }));
  return {
    functionResponse: { ...(id !== undefined && { id }), name, response, ...(parts.length > 0 && { parts }) },
  };
}
