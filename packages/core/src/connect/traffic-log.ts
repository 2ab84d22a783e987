/** Watches the traffic with one server: writes the log, and keeps the facts that explain a failure. */

import type { ConnectOptions } from "@fairlead/wire";
import type { ConnectFacts } from "./connect-failure.ts";
import { hideInMessage, type Redact } from "./redact.ts";
import type { ServerLog } from "./server-log.ts";

const keptLines = 40;
const keptCharacters = 2000;
const keptDiagnostics = 3;
/** JSON-RPC id of the first request of every attempt. */
const firstId = 1;
/** Maximum characters of a line, so many that a secret is hidden before the line is cut. */
const lineCharacters = 64 * 1024;

export interface TrafficLog {
  readonly listeners: Required<Pick<ConnectOptions, "onStderr" | "onDiagnostic" | "onMessage">>;
  note(text: string): void;
  /** The facts seen so far, for the message of a failure. */
  observed(): Pick<ConnectFacts, "lastRequest" | "hasSentMessage" | "diagnostics" | "stderr">;
}

export interface TrafficLogOptions {
  readonly log: ServerLog;
  readonly redact: Redact;
  /** Writes every message into the log. */
  readonly debug: boolean;
  /** Called when the first request is sent: the process runs. */
  readonly onFirstMessage: () => void;
  readonly onStderrLine: ((line: string) => void) | undefined;
}

/** Creates the listeners that the wire calls. */
export function createTrafficLog({ log, redact, debug, onFirstMessage, onStderrLine }: TrafficLogOptions): TrafficLog {
  let stderr: string[] = [];
  let diagnostics: string[] = [];
  let lastRequest: string | undefined;
  let hasSentMessage = false;

  const lines = createTextLines(lineCharacters, (text) => {
    const line = redact(text);
    stderr.push(line.slice(0, keptCharacters));
    if (stderr.length > keptLines) stderr.shift();
    log.write("stderr", line);
    onStderrLine?.(line);
  });

  /** The wire starts the server again with another protocol: only the last attempt explains a failure. */
  function startAgain(): void {
    stderr = [];
    diagnostics = [];
    log.write("note", "trying another protocol");
  }

  return {
    listeners: {
      onStderr: (text) => lines.push(text),
      onDiagnostic(text) {
        const diagnostic = redact(text);
        if (diagnostics.length < keptDiagnostics) diagnostics.push(diagnostic);
        log.write("note", diagnostic);
      },
      onMessage(direction, message) {
        const { method, id, jsonrpc } = message;
        if (direction === "received") hasSentMessage ||= jsonrpc === "2.0";
        else if (typeof method === "string" && id !== undefined) {
          if (lastRequest === undefined) onFirstMessage();
          else if (id === firstId) startAgain();
          lastRequest = method;
        }
        if (debug)
          log.write("wire", `${direction} ${redact(hideInMessage(direction, message).slice(0, lineCharacters))}`);
      },
    },
    note: (text) => log.write("note", redact(text)),
    observed() {
      lines.end();
      return { lastRequest, hasSentMessage, diagnostics, stderr };
    },
  };
}

/** Splits pieces of text into lines. */
interface TextLines {
  push(text: string): void;
  /** Passes on the last line if it has no line end. */
  end(): void;
}

/** @param limit Maximum number of characters of a line; the rest of a longer line is dropped. */
export function createTextLines(limit: number, line: (text: string) => void): TextLines {
  let start = "";
  let isDropping = false;

  function take(piece: string): void {
    if (isDropping) return;
    start += piece;
    if (start.length <= limit) return;
    isDropping = true;
    line(start.slice(0, limit));
    start = "";
  }

  return {
    push(text) {
      const [first = "", ...others] = text.split("\n");
      take(first);
      for (const piece of others) {
        if (!isDropping) line(start.replace(/\r$/, ""));
        isDropping = false;
        start = "";
        take(piece);
      }
    },
    end() {
      if (start !== "") line(start);
      start = "";
    },
  };
}
