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
export function conversationDocument(conversation: RecordedConversation): object {
  const { head, lines } = conversation;
  const title = lines.findLast((line) => line.type === "title")?.title;
  const { id, time, workspace, model } = head;
  return {
    id,
    title,
    startedAt: time,
    workspace,
    model,
    events: eventsOf(conversation),
  };
}

/** Returns the messages, calls and results of a conversation, in recorded order. */
export function eventsOf({ lines }: RecordedConversation): readonly RecordedLine[] {
  return lines.filter(({ type }) => !internal.has(type));
}
