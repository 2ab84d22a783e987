/** Which traces are exported, as `OTEL_TRACES_SAMPLER` says. */

import type { TraceContext } from "./trace-context.ts";

/** Whether a span is exported. `parent` is the span above it, perhaps one of another program. */
export type Sampler = (parent: TraceContext | undefined, traceId: string) => boolean;

const always: Sampler = () => true;
const never: Sampler = () => false;

/** A child is sampled if its parent is. Only a span that begins a trace asks `root`. */
function byParent(root: Sampler): Sampler {
  return (parent, traceId) => parent?.isSampled ?? root(undefined, traceId);
}

/** Keeps this part of all traces: every program with the same part keeps the same traces. */
function byRatio(ratio: number): Sampler {
  const limit = ratio * 2 ** 32;
  return (_parent, traceId) => Number.parseInt(traceId.slice(-8), 16) < limit;
}

/** The default of OpenTelemetry: everything, unless the caller does not sample. */
export const keepsAll: Sampler = byParent(always);

/** Returns the sampler of this name. Undefined if there is none, or if its argument is not a number from 0 to 1. */
export function samplerOf(name: string, argument: string | undefined): Sampler | undefined {
  const ratio = argument === undefined || argument === "" ? 1 : Number(argument);
  const isRatio = ratio >= 0 && ratio <= 1;
  switch (name) {
    case "always_on":
      return always;
    case "always_off":
      return never;
    case "parentbased_always_on":
      return keepsAll;
    case "parentbased_always_off":
      return byParent(never);
    case "traceidratio":
      return isRatio ? byRatio(ratio) : undefined;
    case "parentbased_traceidratio":
      return isRatio ? byParent(byRatio(ratio)) : undefined;
    default:
      return undefined;
  }
}
