/** Sees what passes between us and one server: remembers what explains a failure, and writes the log. */

import type { ConnectOptions } from "@fairlead/wire";
import type { ConnectFacts } from "./connect-failure.ts";
import { hideInMessage, type Redact } from "./redact.ts";
import type { ServerLog } from "./server-log.ts";
import { createTextLines } from "./text-lines.ts";

const keptLines = 40;
const keptCharacters = 2000;
const keptDiagnostics = 3;
/** Of the first request of every attempt. */
const firstId = 1;
/** Long enough that no secret is cut before it is recognised. */
const lineCharacters = 64 * 1024;

export interface TrafficLog {
  readonly listeners: Required<Pick<ConnectOptions, "onStderr" | "onDiagnostic" | "onMessage">>;
  note(text: string): void;
  observed(): Pick<ConnectFacts, "lastRequest" | "hasSentMessage" | "diagnostics" | "stderr">;
}

export interface TrafficLogOptions {
  readonly log: ServerLog;
  readonly redact: Redact;
  /** Messages go into the log as well. */
  readonly debug: boolean;
  /** Told when the first message leaves: from here on there is somebody to talk to. */
  readonly onFirstMessage: () => void;
  readonly onStderrLine: ((line: string) => void) | undefined;
}

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

  /** A server that does not live through the first question is lastRequest another one: what counts is the last attempt. */
  function startAgain(): void {
    stderr = [];
    diagnostics = [];
    log.write("note", "trying another way");
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
