/** Spans and metrics of this process, as OpenTelemetry's environment variables ask for. Loaded only if they do. */

import { randomUUID } from "node:crypto";
import { HostError } from "@fairlead/core/errors";
import { type OwnTelemetry, openExporter, readTraceContext, type TraceContext } from "@fairlead/core/telemetry";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { errorMessage } from "@fairlead/wire/text";
import type { Output } from "../output/output.ts";
import type { Io } from "./verb.ts";
import { version } from "./version.ts";

/** The telemetry of a command. Close it at the end: it sends what is left, for at most two seconds. */
export interface CommandTelemetry {
  readonly telemetry: OwnTelemetry;
  /** Runs the command of this process in a span, which all others are below. */
  run(name: string, command: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Opens the telemetry of a command. Its spans belong to the span of the caller, if the environment names one. */
export function openCommandTelemetry(
  { env, stderr, clock }: Pick<Io, "env" | "stderr" | "clock">,
  out: Pick<Output, "warn">,
): CommandTelemetry | undefined {
  return openProcessTelemetry({
    env,
    clock,
    parent: readTraceContext({ traceparent: env["TRACEPARENT"], tracestate: env["TRACESTATE"] }),
    warn: (message) => out.warn(safe`fairlead: telemetry: ${toSafeLine(message)}`),
    print: (line) => void stderr.write(safe`${toSafeLine(line)}\n`),
  });
}

interface ProcessTelemetryOptions extends Pick<Io, "env" | "clock"> {
  readonly parent?: TraceContext | undefined;
  readonly warn: (message: string) => void;
  readonly print: (line: string) => void;
}

/** Opens the telemetry of a process. */
export function openProcessTelemetry(options: ProcessTelemetryOptions): CommandTelemetry | undefined {
  const exporter = openExporter({ ...options, version: version(), instance: randomUUID() });
  if (exporter === undefined) return undefined;
  const { telemetry } = exporter;
  return {
    telemetry,
    async run(name, command) {
      const span = telemetry.startRoot(name);
      try {
        await command();
        span.end();
      } catch (error) {
        span.set({ "error.type": error instanceof HostError ? error.code : "internal" });
        span.end(errorMessage(error));
        throw error;
      }
    },
    close: () => exporter.close(),
  };
}
