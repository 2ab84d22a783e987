/** A whole turn as the one document of `--output-format json`: events go in one by one. Pure. */

import type { HostError } from "@fairlead/core/errors";
import type { CallEvent, DoneReason, MissingServer, TurnEvent } from "@fairlead/core/turn/events";
import { type ErrorDocument, type StartLine, toErrorDocument } from "./event-line.ts";

type CallDocument = Omit<CallEvent, "type">;

export interface TurnReport {
  /** Whether the model came to an end. */
  readonly ok: boolean;
  /** Absent if there was none. */
  readonly model?: StartLine["model"];
  /** What it said last. */
  readonly text: string;
  /** How it ended; absent after an error. */
  readonly reason?: DoneReason;
  /** In the order in which the model asked for them, each as it ended. */
  readonly calls: readonly CallDocument[];
  readonly denied: number;
  /** Of all requests together. */
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

export function addToReport(report: TurnReport, event: TurnEvent): TurnReport {
  switch (event.type) {
    case "call": {
      const calls = withCall(report.calls, event);
      const denied = calls.filter(({ status }) => status === "denied").length;
      // What it says next is another answer.
      return { ...report, calls, denied, ...(event.status === "requested" && { text: "" }) };
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
      // Told between requests, and never within an answer.
      return { ...report, text: "", notes: [...report.notes, event.message] };
    case "done": {
      const { text, reason, denied } = event;
      return { ...report, text, reason, denied, ok: reason === "stop" };
    }
    case "error":
      return { ...report, error: toErrorDocument(event.error), ok: false };
    case "thought":
    case "progress":
    case "confirmation":
    case "waiting":
      return report;
  }
}

/** The model's API is asked for something, be it for the second time. */
export function withRequest(report: TurnReport): TurnReport {
  return { ...report, usage: { ...report.usage, requests: report.usage.requests + 1 } };
}

/** In the order in which it is read. `error` is what the exit code is for. */
export function reportDocument(
  { model, reason, text, error: told, ok, ...rest }: TurnReport,
  failure?: HostError,
): object {
  const error = failure === undefined ? told : toErrorDocument(failure);
  return {
    ok: ok && error === undefined,
    ...(model && { model }),
    ...(reason && { reason }),
    text,
    ...rest,
    ...(error && { error }),
  };
}

/** The latest event of a call says all that the earlier ones said. */
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
