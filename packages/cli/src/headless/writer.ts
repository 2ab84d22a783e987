/** Writes a turn's events to stdout in the chosen format, and messages for people to stderr. */

import type { HostError } from "@fairlead/core/errors";
import { joinSafe, toSafeJson, toSafeText } from "@fairlead/core/text/safe-text";
import type { CallEvent, TurnEvent } from "@fairlead/core/turn/events";
import type { Output } from "../output/output.ts";
import { type EventLine, type StartLine, toErrorDocument, toEventLine } from "./event-line.ts";
import type { OutputFormat } from "./options.ts";
import { addToReport, emptyReport, reportDocument, withRequest } from "./report.ts";
import { deniedAdvice, eventLines } from "./stderr-lines.ts";
import { addEvent, emptyBuffer } from "./stdout-buffer.ts";

export interface TurnWriter {
  readonly start: (model: StartLine["model"]) => void;
  /** Called for every request to the model's API. */
  readonly asked: () => void;
  readonly event: (event: TurnEvent) => void;
  /** Called after the last event. The caller prints the error to stderr. */
  readonly end: (error?: HostError) => void;
}

export function createTurnWriter(format: OutputFormat, out: Output): TurnWriter {
  const data = writers[format](out);
  const denied: CallEvent[] = [];
  return {
    ...data,
    event(event) {
      data.event(event);
      if (event.type === "call" && event.status === "denied") denied.push(event);
      const lines = event.type === "done" ? deniedAdvice(denied) : eventLines(event);
      if (lines.length > 0) out.say(joinSafe(lines));
    },
  };
}

const writers: Readonly<Record<OutputFormat, (out: Output) => TurnWriter>> = {
  text(out) {
    let buffer = emptyBuffer;
    let showsResults = false;
    return {
      start({ provider }) {
        // Without a model, the output consists of the results.
        showsResults = provider === "manual";
      },
      asked() {},
      event(event) {
        if (showsResults && event.type === "call" && event.display !== undefined) out.print(toSafeText(event.display));
        const heard = addEvent(buffer, event);
        buffer = heard.buffer;
        if (heard.lines !== undefined) out.print(heard.lines);
      },
      end() {},
    };
  },

  json(out) {
    let report = emptyReport;
    return {
      start(model) {
        report = { ...report, model };
      },
      asked() {
        report = withRequest(report);
      },
      event(event) {
        report = addToReport(report, event);
      },
      end: (error) => out.json(reportDocument(report, error)),
    };
  },

  "stream-json"(out) {
    let hasEnded = false;
    const print = (line: EventLine): void => {
      hasEnded = line.type === "done" || line.type === "error";
      out.print(toSafeJson({ schemaVersion: 1, ...line }, 0));
    };
    return {
      start: (model) => print({ type: "start", model }),
      asked() {},
      event(event) {
        const line = toEventLine(event);
        if (line !== undefined) print(line);
      },
      end(error) {
        if (!hasEnded && error !== undefined) print({ type: "error", error: toErrorDocument(error) });
      },
    };
  },
};
