/** Converts the events of a turn to JSON: one document, or one line for each event. Pure functions. */

import type { HostError } from "@fairlead/core/errors";
import type { CallEvent, DoneReason, MissingServer, TurnEvent } from "@fairlead/core/turn";
import { type ErrorDocument, errorDocument } from "../output/output.ts";

type CallDocument = Omit<CallEvent, "type">;

/** The result of a turn for `--output-format json`. `text` is the model's last answer. */
export interface TurnReport {
  readonly ok: boolean;
  /** The model's name. Absent if no model was reached. */
  readonly model?: StartLine["model"];
  /** The id of the conversation, for `--resume`. */
  readonly conversation?: string;
  readonly text: string;
  /** Why the turn ended. Absent after an error. */
  readonly reason?: DoneReason;
  /** The final state of each call, in the order in which the model requested the calls. */
  readonly calls: readonly CallDocument[];
  readonly denied: number;
  readonly usage: Usage;
  readonly quarantined: readonly QuarantinedTool[];
  readonly missing: readonly MissingServer[];
  readonly notes: readonly string[];
  readonly error?: ErrorDocument;
}

interface Usage {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}

type QuarantinedTool = Omit<Extract<TurnEvent, { readonly type: "quarantined" }>, "type">;

/** The report before the first event. */
export const emptyReport: TurnReport = {
  ok: false,
  text: "",
  calls: [],
  denied: 0,
  usage: { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  quarantined: [],
  missing: [],
  notes: [],
};

/** Returns the report with one more event of the turn. */
export function addToReport(report: TurnReport, event: TurnEvent): TurnReport {
  switch (event.type) {
    case "call": {
      const calls = withCall(report.calls, event);
      const denied = calls.filter(({ status }) => status === "denied").length;
      // The report has only the model's last answer, so it drops text that the model wrote before a call.
      return { ...report, calls, denied, text: event.status === "requested" ? "" : report.text };
    }
    case "text":
      return { ...report, text: `${report.text}${event.text}` };
    case "retry":
      return withRequest(report);
    case "usage":
      return { ...report, usage: addUsage(report.usage, event) };
    case "quarantined": {
      const { type: _type, ...tool } = event;
      return { ...report, quarantined: [...report.quarantined, tool] };
    }
    case "missing":
      return { ...report, missing: [...report.missing, ...event.servers] };
    case "note":
      // After a `note` event the model answers again, so the report drops the answer before the event.
      return { ...report, text: "", notes: [...report.notes, event.message] };
    case "done": {
      const { text, reason, denied } = event;
      return { ...report, text, reason, denied, ok: reason === "stop" };
    }
    case "error":
      return { ...report, error: errorDocument(event.error), ok: false };
    case "thought":
    case "progress":
    case "confirmation":
    case "waiting":
      return report;
  }
}

/** Counts one request to the model's API. A retry counts as a request too. */
export function withRequest(report: TurnReport): TurnReport {
  return { ...report, usage: { ...report.usage, requests: report.usage.requests + 1 } };
}

/** Returns the JSON document. `failure` is the error that determines the exit code. */
export function reportDocument(
  { model, conversation, reason, text, error: told, ok, ...rest }: TurnReport,
  failure?: HostError,
): object {
  const error = failure === undefined ? told : errorDocument(failure);
  return { ok: ok && error === undefined, model, conversation, reason, text, ...rest, error };
}

/** Adds an event of a call, or replaces the earlier event of the same call: each event has all data of its call. */
function withCall(calls: readonly CallDocument[], event: CallEvent): readonly CallDocument[] {
  const { type: _type, ...call } = event;
  return calls.some(({ id }) => id === call.id)
    ? calls.map((each) => (each.id === call.id ? call : each))
    : [...calls, call];
}

function addUsage(
  { requests, inputTokens, outputTokens, cachedTokens }: Usage,
  more: Omit<Usage, "requests" | "cachedTokens"> & { readonly cachedTokens?: number },
): Usage {
  return {
    requests,
    inputTokens: inputTokens + more.inputTokens,
    outputTokens: outputTokens + more.outputTokens,
    cachedTokens: cachedTokens + (more.cachedTokens ?? 0),
  };
}

/** The first line of the output: the model that answers, and the id of the conversation for `--resume`. */
export interface StartLine {
  readonly type: "start";
  readonly model: { readonly provider: string; readonly name: string };
  readonly conversation: string;
}

/** One line of `--output-format stream-json`. */
export type EventLine =
  | StartLine
  | Exclude<TurnEvent, { readonly type: "error" | "confirmation" }>
  | { readonly type: "error"; readonly error: ErrorDocument };

/** Returns the output line for an event. Undefined for a confirmation, because there is no terminal to ask on. */
export function toEventLine(event: TurnEvent): EventLine | undefined {
  if (event.type === "confirmation") return undefined;
  return event.type === "error" ? { type: "error", error: errorDocument(event.error) } : event;
}
