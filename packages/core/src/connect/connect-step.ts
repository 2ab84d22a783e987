import type { Era, ServerInfo } from "@fairlead/wire";
import type { MachineStep } from "../auth/machine/machine-step.ts";
import { systemClock } from "../clock.ts";
import type { Transport } from "../settings/define/definition.ts";
import type { Redact } from "./redact.ts";

/** A finished step of connecting. A failed step is not reported, because the error of the connection explains it. */
export type ConnectStep = ConnectStepDetails & {
  /** Milliseconds since the previous step. */
  readonly milliseconds: number;
};

/** The facts that one step of connecting reports. */
export type ConnectStepDetails =
  | {
      readonly step: "definition";
      /** The transport as written in the settings. Its variables are not expanded, but other values may be secret. */
      readonly transport: Transport;
      readonly timeout: ConnectTimeout;
      /**
       * Hides this server's secrets in the text of later steps, lists and messages, because a server may repeat its
       * secrets anywhere.
       */
      readonly redact: Redact;
    }
  | {
      readonly step: "program";
      /** The executable file; absent if the command was not found. */
      readonly file?: string;
      readonly cwd: string;
      /** Entries of `PATH` that are ignored because the current folder is not trusted. */
      readonly droppedPath: readonly string[];
    }
  | {
      readonly step: "environment";
      /**
       * Names of variables, never their values: copied from Fairlead's environment (`passed`), set by the server's
       * `env` (`set`), or not given to the program (`withheld`).
       */
      readonly passed: readonly string[];
      readonly set: readonly string[];
      readonly withheld: readonly string[];
    }
  /** The process has started. Only for stdio servers. */
  | { readonly step: "start" }
  /** A step of the token request for a server with `machineAuth`. */
  | ({ readonly step: "machine" } & MachineStep)
  | {
      readonly step: "handshake";
      readonly era: Era;
      readonly protocolVersion: string;
      /** The transport that the connection finally uses. */
      readonly transport: "stdio" | "http" | "sse";
      readonly serverInfo: ServerInfo;
    };

/** How long connecting may take, and the setting that limits it. */
export interface ConnectTimeout {
  readonly milliseconds: number;
  readonly setting: "fairlead.connectTimeout" | "timeout";
}

/** @deprecated The new name is `ConnectTimeout`. */
export type Patience = ConnectTimeout;

/** Receives every finished step of connecting. */
export type ConnectObserver = (step: ConnectStep) => void;

/** Returns a function that passes each step to `observe` with its duration. */
export function createStepper(observe: ConnectObserver | undefined): (step: ConnectStepDetails) => void {
  let before = systemClock.now();
  return (step) => {
    const now = systemClock.now();
    observe?.({ ...step, milliseconds: now - before });
    before = now;
  };
}
