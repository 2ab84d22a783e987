/** The items of the transcript. The texts are untrusted until the views make them safe to print. */

import type { CallEvent, CallFailure, CallStatus } from "@fairlead/core/turn/events";
import type { JsonObject } from "@fairlead/wire";

export type TranscriptItem = { readonly key: string } & (
  | { readonly kind: "person"; readonly text: string; readonly attachments: readonly string[] }
  /** An answer as Markdown. Its text grows until `isDone` is true. */
  | { readonly kind: "answer"; readonly text: string; readonly isDone: boolean }
  | { readonly kind: "thought"; readonly text: string; readonly isDone: boolean }
  | { readonly kind: "call"; readonly call: CallCard }
  | { readonly kind: "note"; readonly tone: NoteTone; readonly text: string; readonly next?: string }
  | { readonly kind: "output"; readonly title: string; readonly text: string }
);

export type NoteTone = "info" | "warning" | "error";

interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallCard {
  readonly id: string;
  readonly server?: string;
  /** The tool's name on its server. For one of Fairlead's own functions, the name that the model uses. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly status: CallStatus;
  /** When the call started to run, in milliseconds on the session's clock. */
  readonly startedAt?: number;
  readonly durationMs?: number;
  readonly progress?: CallProgress;
  readonly display?: string;
  readonly error?: CallFailure;
  readonly rule?: string;
  readonly files: readonly string[];
  readonly media: NonNullable<CallEvent["media"]>;
  readonly isOpen: boolean;
}

/** Whether the item is complete, so that it does not change any more. */
export function isSettled(item: TranscriptItem): boolean {
  switch (item.kind) {
    case "answer":
    case "thought":
      return item.isDone;
    case "call":
      return isOver(item.call.status);
    case "person":
    case "note":
    case "output":
      return true;
  }
}

export function isOver(status: CallStatus): boolean {
  switch (status) {
    case "ok":
    case "error":
    case "denied":
    case "cancelled":
      return true;
    case "requested":
    case "asking":
    case "queued":
    case "running":
      return false;
  }
}

/** Returns the transcript item (card) of a tool call after an event of that call. The first event creates the card. */
export function toCard(event: CallEvent, before: CallCard | undefined, now: number): CallCard {
  const { id, name, server, serverToolName, args, status, display, error, durationMs, rule, files, media } = event;
  const startedAt = before?.startedAt ?? (status === "running" ? now : undefined);
  const whose = server ?? before?.server;
  const result = display ?? before?.display;
  const why = rule ?? before?.rule;
  return {
    id,
    ...(whose !== undefined && { server: whose }),
    tool: serverToolName ?? name,
    args,
    status,
    ...(startedAt !== undefined && { startedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(before?.progress && !isOver(status) && { progress: before.progress }),
    ...(result !== undefined && { display: result }),
    ...(error && { error }),
    ...(why !== undefined && { rule: why }),
    files: files ?? before?.files ?? [],
    media: media ?? before?.media ?? [],
    isOpen: before?.isOpen ?? false,
  };
}
