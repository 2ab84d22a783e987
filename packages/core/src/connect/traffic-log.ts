/** Sees what passes between us and one server: remembers what explains a failure, and writes the log. */

import type { ConnectOptions } from "@fairlead/wire";
import type { ConnectFacts } from "./connect-failure.ts";
import { hideInMessage, type Redact } from "./redact.ts";
import type { ServerLog } from "./server-log.ts";
import { createTextLines } from "./text-lines.ts";

const rememberedLines = 40;
const rememberedCharacters = 2000;
const rememberedRemarks = 3;
/** Of the first request of every attempt. */
const firstId = 1;
/** Long enough that no secret is cut before it is recognised. */
const lineCharacters = 64 * 1024;

export interface Witness {
  readonly listeners: Required<Pick<ConnectOptions, "onStderr" | "onDiagnostic" | "onMessage">>;
  note(text: string): void;
  seen(): Pick<ConnectFacts, "asked" | "hasSpoken" | "remarks" | "stderr">;
}

export interface WitnessOptions {
  readonly log: ServerLog;
  readonly redact: Redact;
  /** Messages go into the log as well. */
  readonly debug: boolean;
  /** Told when the first message leaves: from here on there is somebody to talk to. */
  readonly onFirstMessage: () => void;
  readonly onStderrLine: ((line: string) => void) | undefined;
}

export function createWitness({ log, redact, debug, onFirstMessage, onStderrLine }: WitnessOptions): Witness {
  let stderr: string[] = [];
  let remarks: string[] = [];
  let asked: string | undefined;
  let hasSpoken = false;

  const lines = createTextLines(lineCharacters, (text) => {
    const line = redact(text);
    stderr.push(line.slice(0, rememberedCharacters));
    if (stderr.length > rememberedLines) stderr.shift();
    log.write("stderr", line);
    onStderrLine?.(line);
  });

  /** A server that does not live through the first question is asked another one: what counts is the last attempt. */
  function startAgain(): void {
    stderr = [];
    remarks = [];
    log.write("note", "trying another way");
  }

  return {
    listeners: {
      onStderr: (text) => lines.push(text),
      onDiagnostic(text) {
        const remark = redact(text);
        if (remarks.length < rememberedRemarks) remarks.push(remark);
        log.write("note", remark);
      },
      onMessage(direction, message) {
        const { method, id, jsonrpc } = message;
        if (direction === "received") hasSpoken ||= jsonrpc === "2.0";
        else if (typeof method === "string" && id !== undefined) {
          if (asked === undefined) onFirstMessage();
          else if (id === firstId) startAgain();
          asked = method;
        }
        if (debug)
          log.write("wire", `${direction} ${redact(hideInMessage(direction, message).slice(0, lineCharacters))}`);
      },
    },
    note: (text) => log.write("note", redact(text)),
    seen() {
      lines.end();
      return { asked, hasSpoken, remarks, stderr };
    },
  };
}
