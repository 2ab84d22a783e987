/** The items of the transcript. Their texts are not safe to print until a view converts them. */

import type { CallEvent, CallFailure, CallStatus } from "@fairlead/core/turn";
import type { JsonObject } from "@fairlead/wire";

/** One entry of the transcript. `output`: the output of a slash command. */
export type TranscriptItem = { readonly key: string } & (
  | { readonly kind: "person"; readonly text: string; readonly attachments: readonly string[] }
  /** A part of the model's answer, as Markdown. Its text grows until `isDone` is true. */
  | { readonly kind: "answer"; readonly text: string; readonly isDone: boolean }
  | { readonly kind: "thought"; readonly text: string; readonly isDone: boolean }
  | { readonly kind: "call"; readonly call: CallCard }
  | { readonly kind: "note"; readonly tone: NoteTone; readonly text: string; readonly next?: string }
  | { readonly kind: "output"; readonly title: string; readonly text: string }
);

/** How important a note is. The tone decides its colour. */
export type NoteTone = "info" | "warning" | "error";

interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A tool call as the transcript shows it. `isOpen`: whether the result is expanded. */
export interface CallCard {
  readonly id: string;
  readonly server?: string;
  /** The name that the server uses. For an unknown tool or one of Fairlead's own functions: the model's name for it. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly status: CallStatus;
  /** When the call began to run, in milliseconds on the session's clock. */
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

/** Whether the item's content is complete. The user can still expand or collapse a call. */
export function isSettled(item: TranscriptItem): boolean {
  if (item.kind === "call") return isOver(item.call.status);
  return !("isDone" in item) || item.isDone;
}

const over: ReadonlySet<CallStatus> = new Set(["ok", "error", "denied", "cancelled"]);

/** Whether the call has ended, with or without success. */
export function isOver(status: CallStatus): boolean {
  return over.has(status);
}

/** Applies an event of a tool call to its card. Creates the card if `before` is undefined. */
export function toCard(event: CallEvent, before: CallCard | undefined, now: number): CallCard {
  const { id, name, server, serverToolName, args, status, display, error, durationMs, rule, files, media } = event;
  return {
    id,
    server: server ?? before?.server,
    tool: serverToolName ?? name,
    args,
    status,
    startedAt: before?.startedAt ?? (status === "running" ? now : undefined),
    durationMs,
    progress: isOver(status) ? undefined : before?.progress,
    display: display ?? before?.display,
    error,
    rule: rule ?? before?.rule,
    files: files ?? before?.files ?? [],
    media: media ?? before?.media ?? [],
    isOpen: before?.isOpen ?? false,
  };
}
