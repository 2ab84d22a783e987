/** Writes one server's stderr and, with `debug`, its messages to its log. Keeps what a later error message needs. */

import type { ConnectOptions } from "@fairlead/wire";
import { systemClock } from "../clock.ts";
import type { ConnectFacts } from "./connect-failure.ts";
import { hideInMessage, type Redact } from "./redact.ts";
import type { ServerLog } from "./server-log.ts";
import { createRateLimit, createTextLines } from "./text-lines.ts";

const keptLines = 40;
const keptCharacters = 2000;
const keptDiagnostics = 3;
/** The JSON-RPC id of the first request in every connection attempt of a session. */
const firstId = 1;
/** The rate limit for stderr lines. Lines above the limit are counted and dropped. */
const linesPerSecond = 1000;
const linesAtOnce = 2000;
/**
 * Maximum characters of a line before redaction. Redaction must see whole secrets, so this limit is much higher than
 * the length of a logged line.
 */
const lineCharacters = 64 * 1024;

/** Listeners that write one connection's stderr and, with `debug`, its messages into the server's log. */
export interface TrafficLog {
  readonly listeners: Required<Pick<ConnectOptions, "onStderr" | "onDiagnostic" | "onMessage">>;
  note(text: string): void;
  /** What is known about the connection so far, such as the last request. Error messages use it. */
  observed(): Pick<ConnectFacts, "lastRequest" | "hasSentMessage" | "diagnostics" | "stderr">;
}

export interface TrafficLogOptions {
  readonly log: ServerLog;
  readonly redact: Redact;
  /** Whether every message is written into the log. */
  readonly debug: boolean;
  /** True for a relay. Its client chooses the ids of requests, so an id says nothing about connection attempts. */
  readonly isRelay: boolean;
  /** Called when the first request is sent. At this time, the process is running. */
  readonly onFirstMessage: () => void;
  readonly onStderrLine: ((line: string) => void) | undefined;
}

/** Creates the listeners that `@fairlead/wire` calls. */
export function createTrafficLog(options: TrafficLogOptions): TrafficLog {
  const { log, redact, debug, isRelay, onFirstMessage, onStderrLine } = options;
  let stderr: string[] = [];
  let diagnostics: string[] = [];
  let lastRequest: string | undefined;
  let hasSentMessage = false;

  const redactLines = createLineRedactor(redact);
  const lines = createTextLines({
    limit: lineCharacters,
    rate: createRateLimit(linesPerSecond, linesAtOnce, () => systemClock.now()),
    lines(raw) {
      const shown = redactLines(raw);
      if (shown.length === 0) return;
      stderr = [...stderr, ...shown.slice(-keptLines).map((line) => line.slice(0, keptCharacters))].slice(-keptLines);
      log.write("stderr", shown.join("\n"));
      if (onStderrLine) for (const line of shown) onStderrLine(line);
    },
  });

  /**
   * Called when Fairlead sends the first request of another attempt, with a different protocol. Clears the stderr lines
   * and diagnostics of the earlier attempt, because they would not explain why this one fails.
   */
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
          else if (id === firstId && !isRelay) startAgain();
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

/** Matches a line inside a PEM key. Any other line ends the key. */
const keyLine = /^\s*[A-Za-z0-9+/=]*\s*$|^(?:Proc-Type|DEK-Info): /;
const openKey = /^-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S])*$/;

/**
 * Redacts all stderr lines of a chunk together, because a private key spans several lines. A key may also continue in
 * the next chunk.
 */
function createLineRedactor(redact: Redact): (lines: readonly string[]) => readonly string[] {
  let isInKey = false;
  return (lines) => {
    const end = isInKey ? lines.findIndex((line) => !keyLine.test(line)) : 0;
    if (end === -1) return [];
    const rest = lines.slice(end);
    const text = rest.join("\n");
    isInKey = openKey.test(text.slice(Math.max(0, text.lastIndexOf("-----BEGIN "))));
    const shown = redact(text);
    return shown === text ? rest : shown.split("\n");
  };
}
