/** A whole turn as the one document of `--output-format json`: events go in one by one. Pure. */

import type { HostError } from "@fairlead/core/errors";
import type { CallEvent, DoneReason, MissingServer, TurnEvent } from "@fairlead/core/turn/events";
import { type ErrorDocument, type StartLine, toErrorDocument } from "./event-line.ts";

type CallDocument = Omit<CallEvent, "type">;

export interface Report {
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

export const emptyReport: Report = {
  ok: false,
  text: "",
  calls: [],
  denied: 0,
  usage: { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  quarantined: [],
  missing: [],
  notes: [],
};

export function addToReport(report: Report, event: TurnEvent): Report {
  switch (event.type) {
    case "call":
      return { ...report, calls: withCall(report.calls, event) };
    case "usage":
      return { ...report, usage: addUsage(report.usage, event) };
    case "quarantined": {
      const { type: _type, ...tool } = event;
      return { ...report, quarantined: [...report.quarantined, tool] };
    }
    case "missing":
      return { ...report, missing: [...report.missing, ...event.servers] };
    case "note":
      return { ...report, notes: [...report.notes, event.message] };
    case "done": {
      const { text, reason, denied } = event;
      return { ...report, text, reason, denied, ok: reason === "stop" };
    }
    case "error":
      return { ...report, error: toErrorDocument(event.error), ok: false };
    case "text":
    case "thought":
    case "progress":
    case "confirmation":
    case "waiting":
    case "retry":
      return report;
  }
}

/** In the order in which it is read. `error` is what the exit code is for. */
export function toDocument({ model, reason, text, error: told, ok, ...rest }: Report, failure?: HostError): object {
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
    requests: requests + 1,
    inputTokens: inputTokens + more.inputTokens,
    outputTokens: outputTokens + more.outputTokens,
    cachedTokens: cachedTokens + (more.cachedTokens ?? 0),
  };
}
