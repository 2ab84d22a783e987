/** Writes a turn's events to stdout in the chosen format, and messages for people to stderr. */

import type { HostError } from "@fairlead/core/errors";
import { withoutLineEnd } from "@fairlead/core/normalise";
import { joinSafe, toSafeJson, toSafeText } from "@fairlead/core/text/safe-text";
import type { CallEvent, TurnEvent } from "@fairlead/core/turn";
import { errorDocument, type Output } from "../output/output.ts";
import type { OutputFormat } from "./options.ts";
import {
  addToReport,
  type EventLine,
  emptyReport,
  reportDocument,
  type StartLine,
  toEventLine,
  withRequest,
} from "./report.ts";
import { deniedAdvice, eventLines } from "./stderr-lines.ts";

/** Receives a turn's events and writes them. Call `start` first and `end` last. */
export interface TurnWriter {
  readonly start: (model: StartLine["model"], conversation: string) => void;
  /** Counts a request. Called for every request to the model's API. */
  readonly asked: () => void;
  readonly event: (event: TurnEvent) => void;
  /** Ends the output. Called after the last event. If the turn failed, the caller prints `error` to stderr. */
  readonly end: (error?: HostError) => void;
}

/** Creates the writer for an output format. */
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
    /** The last line of the model's text, which is not complete yet: a message on stderr could split it. */
    let open = "";
    let hasText = false;
    /** Whether the model has called tools since its last text. If so, an empty line comes before its next text. */
    let isApart = false;
    let showsResults = false;

    function print(text: string, rest: string): void {
      out.print(toSafeText(isApart ? `\n${text}` : text));
      open = rest;
      hasText = true;
      isApart = false;
    }

    return {
      start({ provider }) {
        // Without a model there is no answer, so the output shows the results of the calls.
        showsResults = provider === "manual";
      },
      asked() {},
      event(event) {
        if (showsResults && event.type === "call" && (event.display ?? "") !== "")
          out.print(toSafeText(withoutLineEnd(event.display ?? "")));
        if (event.type === "text") {
          const text = `${open}${event.text}`;
          const end = text.lastIndexOf("\n");
          if (end === -1) open = text;
          else print(text.slice(0, end).replace(/\r$/, ""), text.slice(end + 1));
        }
        const isCall = event.type === "call" && event.status === "requested";
        const isEnd = event.type === "note" || event.type === "done" || event.type === "error";
        // An answer seldom ends with a line break.
        if ((isCall || isEnd) && open !== "") print(open, "");
        if (isCall) isApart = hasText;
      },
      end() {},
    };
  },

  json(out) {
    let report = emptyReport;
    return {
      start(model, conversation) {
        report = { ...report, model, conversation };
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
      start: (model, conversation) => print({ type: "start", model, conversation }),
      asked() {},
      event(event) {
        const line = toEventLine(event);
        if (line !== undefined) print(line);
      },
      end(error) {
        if (!hasEnded && error !== undefined) print({ type: "error", error: errorDocument(error) });
      },
    };
  },
};
