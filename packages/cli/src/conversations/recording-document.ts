/** A recording as one JSON document: what was said and done, without the model's own form of the history. Pure. */

import type { RecordedLine } from "@fairlead/core/conversations/format";
import type { ConversationRecording } from "@fairlead/core/conversations/read-recording";

const internal: ReadonlySet<RecordedLine["type"]> = new Set([
  "content",
  "response",
  "rewind",
  "names",
  "approval",
] as const);

export function recordingDocument({ head, lines }: ConversationRecording): object {
  const title = lines.findLast((line) => line.type === "title")?.title;
  const { id, time, workspace, model } = head;
  return {
    id,
    ...(title !== undefined && { title }),
    startedAt: time,
    workspace,
    model,
    events: lines.filter(({ type }) => !internal.has(type)),
  };
}
