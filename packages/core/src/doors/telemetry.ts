/** What the command and the gateway use of telemetry. */

export type { ReceivedSpan } from "../telemetry/client-traces.ts";
export { openExporter } from "../telemetry/exporter.ts";
export { OwnTelemetry } from "../telemetry/own-telemetry.ts";
export { prometheusText, prometheusType } from "../telemetry/prometheus.ts";
export { asksForTelemetry } from "../telemetry/telemetry.ts";
export { readTraceContext, type TraceContext, withTraceContext } from "../telemetry/trace-context.ts";
