/** W3C trace context: the ids of a span, as they are sent in `_meta`, in HTTP headers and in environment variables. */

import type { JsonObject } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";

/** The ids of a span. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** What other tracing systems have added. Fairlead passes it on. */
  readonly traceState?: string | undefined;
}

/** The context of a span that is not exported and belongs to no trace: its ids are not sent. */
export const noContext: TraceContext = { traceId: "0".repeat(32), spanId: "0".repeat(16), isSampled: false };

/** The members of `_meta` that carry a trace context (SEP-414). */
export type TraceMeta = { readonly traceparent: string; readonly tracestate?: string | undefined };

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;
/** The specification asks for at least 512 characters. */
const longestState = 512;
const printable = /^[\x20-\x7e]*$/;

/** Reads a context from members named `traceparent` and `tracestate`. Undefined if there is none, or it is invalid. */
export function readTraceContext(carrier: unknown): TraceContext | undefined {
  const { traceparent, tracestate } = objectOf(carrier);
  if (typeof traceparent !== "string" || traceparent.length > longestState) return undefined;
  const [, traceId, spanId, flags, rest] = pattern.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Version 00 has exactly four parts; later versions may have more.
  if (rest === "-" && traceparent.startsWith("00")) return undefined;
  const isState = typeof tracestate === "string" && tracestate.length <= longestState && printable.test(tracestate);
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, traceState: isState && tracestate !== "" ? tracestate : undefined };
}

/** Returns the id of the trace that a client's request belongs to. */
export function traceIdIn(meta: JsonObject | undefined): string | undefined {
  return meta?.["traceparent"] === undefined ? undefined : readTraceContext(meta)?.traceId;
}

/** Returns the context as members of `_meta`. They replace those of another context. */
export function traceMeta({ traceId, spanId, isSampled, traceState }: TraceContext): TraceMeta | undefined {
  if (traceId === noContext.traceId) return undefined;
  return { traceparent: `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`, tracestate: traceState };
}

/** Returns `_meta` with another context. What else is in it stays. */
export function withTraceContext(meta: JsonObject | undefined, context: TraceContext): JsonObject {
  return { ...meta, ...traceMeta(context) };
}
