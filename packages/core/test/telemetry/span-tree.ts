/** The spans of a test as lines of text. */

import type { EndedSpan } from "../../src/telemetry/own-telemetry.ts";

/**
 * Lines such as `client tools/call meta`, children indented below their parents, in the order in which they began. `of`
 * adds words to a line.
 */
export function spanTree(spans: readonly EndedSpan[], of: (span: EndedSpan) => string = () => ""): readonly string[] {
  const ids = new Set(spans.map(({ context }) => context.spanId));
  const ordered = spans.toSorted((one, other) => one.startedAt - other.startedAt);
  function below(parent: string | undefined, indent: string): readonly string[] {
    return ordered
      .filter(({ parentSpanId: above }) => (above !== undefined && ids.has(above) ? above : undefined) === parent)
      .flatMap((span) => [
        `${indent}${span.kind} ${span.name}${of(span)}`,
        ...below(span.context.spanId, `${indent}  `),
      ]);
  }
  return below(undefined, "");
}

/** Adds the type of its error to a failed span: `client tools/call fail [tool_error]`. */
export function withErrors({ failure, attributes }: EndedSpan): string {
  return failure === undefined ? "" : ` [${attributes["error.type"]}]`;
}
