/** What has been said, kept in an order that models' APIs take: every call is answered right after it. Pure. */

import type { Content, Part } from "../normalise/model-types.ts";

export type History = readonly Content[];

export function callsIn({ parts }: Content): readonly NonNullable<Part["functionCall"]>[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? []);
}

/** What it says to the person. */
export function textIn({ parts }: Content): string {
  return parts.flatMap(({ text, thought }) => (thought === true ? [] : (text ?? []))).join("");
}

/** A content without parts is refused by some APIs. */
export function addModel(history: History, content: Content): History {
  return content.parts.length === 0 ? history : [...history, content];
}

/** The person spoke last, and nobody has answered. */
export function isUnanswered(history: History): boolean {
  const last = history.at(-1);
  return last?.role === "user" && last.parts.every(({ functionResponse }) => functionResponse === undefined);
}

/** A conversation that comes from elsewhere may have been cut in the middle of a call. */
export function answerOpenCalls(history: History): History {
  return history.flatMap((content, at) => {
    const calls = content.role === "model" ? callsIn(content) : [];
    const next = history[at + 1];
    const isAnswered = next?.parts.some(({ functionResponse }) => functionResponse !== undefined) === true;
    if (calls.length === 0 || isAnswered) return [content];
    const response = { error: "What became of this call is not known." };
    return [content, { role: "user" as const, parts: calls.map((call) => toResponse(call, response)) }];
  });
}

/** An id is given back where one was given. */
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
