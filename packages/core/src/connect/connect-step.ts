/** The steps of connecting to a server, as an observer receives them. */

import type { Era, ServerInfo } from "@fairlead/wire";
import type { MachineStep } from "../auth/machine/machine-auth.ts";
import { systemClock } from "../clock.ts";
import type { Transport } from "../settings/define/definition.ts";
import type { Redact } from "./redact.ts";

/** One completed step of connecting, with its duration. If a step fails, connecting throws an error instead. */
export type ConnectStep = ConnectStepDetails & {
  /** Milliseconds since the previous step. */
  readonly milliseconds: number;
};

/** The data of one step of connecting, by kind of step. */
export type ConnectStepDetails =
  | {
      readonly step: "definition";
      /** The transport as written in the settings, with unexpanded variables. It may contain literal secrets. */
      readonly transport: Transport;
      readonly timeout: ConnectTimeout;
      /** Hides this server's secrets in later output. A server may repeat its secrets in any message. */
      readonly redact: Redact;
    }
  | {
      readonly step: "program";
      /** The executable file; absent if the command was not found. */
      readonly file?: string;
      readonly cwd: string;
      /** Entries of `PATH` that are ignored, because an untrusted workspace could control them. */
      readonly droppedPath: readonly string[];
    }
  | {
      readonly step: "environment";
      /**
       * Names of variables, without values. `passed`: copied from Fairlead's environment. `set`: from the server's
       * `env` setting. `withheld`: in Fairlead's environment, but not given to the program.
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
      /** The transport in use. */
      readonly transport: "stdio" | "http" | "sse";
      readonly serverInfo: ServerInfo;
    };

/** How long connecting may take, and the setting that limits it. */
export interface ConnectTimeout {
  readonly milliseconds: number;
  readonly setting: "fairlead.connectTimeout" | "timeout";
}

/** Receives every finished step of connecting. */
export type ConnectObserver = (step: ConnectStep) => void;

/** Returns a function that adds the duration to each step and passes the step to `observe`. */
export function createStepper(observe: ConnectObserver | undefined): (step: ConnectStepDetails) => void {
  let before = systemClock.now();
  return (step) => {
    const now = systemClock.now();
    observe?.({ ...step, milliseconds: now - before });
    before = now;
  };
}
