/** Converts an event of a turn to a line of `--output-format stream-json`. Pure. */

import type { HostError } from "@fairlead/core/errors";
import type { TurnEvent } from "@fairlead/core/turn/events";

export interface ErrorDocument {
  readonly code: HostError["code"];
  readonly message: string;
  readonly next?: string;
}

/** The first line: the model that answers. */
export interface StartLine {
  readonly type: "start";
  readonly model: { readonly provider: string; readonly name: string };
}

export type EventLine =
  | StartLine
  | Exclude<TurnEvent, { readonly type: "error" | "confirmation" }>
  | { readonly type: "error"; readonly error: ErrorDocument };

/** Undefined for a confirmation: there is no terminal to ask on. */
export function toEventLine(event: TurnEvent): EventLine | undefined {
  switch (event.type) {
    case "confirmation":
      return undefined;
    case "error":
      return { type: "error", error: toErrorDocument(event.error) };
    case "text":
    case "thought":
    case "call":
    case "progress":
    case "quarantined":
    case "waiting":
    case "missing":
    case "note":
    case "retry":
    case "usage":
    case "done":
      return event;
  }
}

export function toErrorDocument({ code, message, next }: HostError): ErrorDocument {
  return { code, message, ...(next !== undefined && { next }) };
}
