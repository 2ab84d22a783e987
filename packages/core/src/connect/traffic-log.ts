/** Watches the traffic with one server: writes the log, and keeps the facts that explain a failure. */

import type { ConnectOptions } from "@fairlead/wire";
import type { ConnectFacts } from "./connect-failure.ts";
import { createRateLimit } from "./rate-limit.ts";
import { hideInMessage, type Redact } from "./redact.ts";
import type { ServerLog } from "./server-log.ts";
import { createTextLines } from "./text-lines.ts";

const keptLines = 40;
const keptCharacters = 2000;
const keptDiagnostics = 3;
/** JSON-RPC id of the first request of every attempt. */
const firstId = 1;
/** Maximum stderr lines that are logged and reported per second, and in a first burst. Further lines are counted and dropped. */
const linesPerSecond = 1000;
const linesAtOnce = 2000;
/** Maximum characters of a line before redaction: long enough that a secret is hidden before the line is cut. */
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

  const lines = createTextLines({
    limit: lineCharacters,
    rate: createRateLimit({ perSecond: linesPerSecond, burst: linesAtOnce, now: () => performance.now() }),
    lines(raw) {
      const shown = redactLines(raw, redact);
      stderr = [...stderr, ...shown.slice(-keptLines).map((line) => line.slice(0, keptCharacters))].slice(-keptLines);
      log.write("stderr", shown.join("\n"));
      if (onStderrLine) for (const line of shown) onStderrLine(line);
    },
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

/** Redacts all lines at once, and one by one only if that finds a secret. */
function redactLines(lines: readonly string[], redact: Redact): readonly string[] {
  const text = lines.join("\n");
  return redact(text) === text ? lines : lines.map(redact);
}
