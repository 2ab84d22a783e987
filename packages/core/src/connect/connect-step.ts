/** The way from a definition to a conversation, step by step, for whoever wants to watch it. */

import type { Era, ServerInfo } from "@fairlead/wire";
import type { Transport } from "../settings/define/definition.ts";
import type { Redact } from "./redact.ts";

/** Told when the step is done; a step that fails is not told, the rejection explains it. */
export type ConnectStep = ConnectStepDetails & {
  /** Since the step before. */
  readonly milliseconds: number;
};

export type ConnectStepDetails =
  | {
      readonly step: "definition";
      /** As written: nothing is filled in. Literal values may be confidential all the same. */
      readonly transport: Transport;
      /** How long connecting may take, in milliseconds, and the setting that says so. */
      readonly timeout: ConnectTimeout;
      /** Takes this server's secrets out of what later steps, lists and messages say: a server may repeat them anywhere. */
      readonly redact: Redact;
    }
  | {
      readonly step: "program";
      /** What will be run; absent when the command was not found (starting it will say where it was looked for). */
      readonly file?: string;
      readonly cwd: string;
      /** Entries of `PATH` left out because the folder is not trusted. */
      readonly droppedPath: readonly string[];
    }
  | {
      readonly step: "environment";
      /** Names, never values: taken over from ours, set by the entry, kept from the server. */
      readonly passed: readonly string[];
      readonly set: readonly string[];
      readonly withheld: readonly string[];
    }
  /** The process runs; only of servers that are programs. */
  | { readonly step: "start" }
  | {
      readonly step: "handshake";
      readonly era: Era;
      readonly protocolVersion: string;
      /** The one that was really used. */
      readonly transport: "stdio" | "http" | "sse";
      readonly serverInfo: ServerInfo;
    };

/** How long connecting may take, and what to change for more. */
export interface ConnectTimeout {
  readonly milliseconds: number;
  readonly setting: "fairlead.connectTimeout" | "timeout";
}

/** @deprecated The new name is `ConnectTimeout`. */
export type Patience = ConnectTimeout;

export type ConnectObserver = (step: ConnectStep) => void;

/** Takes the time of each step. */
export function createStepper(observe: ConnectObserver | undefined): (step: ConnectStepDetails) => void {
  let before = performance.now();
  return (step) => {
    const now = performance.now();
    observe?.({ ...step, milliseconds: now - before });
    before = now;
  };
}
