/**
 * Converts a recorded conversation to one JSON document: messages, calls and results. Leaves out data that Fairlead
 * uses only to resume the conversation. Pure functions.
 */

import type { RecordedConversation, RecordedLine } from "@fairlead/core/conversations";

const internal: ReadonlySet<RecordedLine["type"]> = new Set([
  "content",
  "response",
  "rewind",
  "names",
  "offered",
  "approval",
] as const);

/** Returns the conversation as a JSON document, with its events in recorded order. */
export function conversationDocument({ head, lines }: RecordedConversation): object {
  const title = lines.findLast((line) => line.type === "title")?.title;
  const { id, time, workspace, model } = head;
  return {
    id,
    title,
    startedAt: time,
    workspace,
    model,
    events: lines.filter(({ type }) => !internal.has(type)),
  };
}
