/** Spans as lines of text. */

export interface SpanLike {
  readonly name: string;
  readonly kind: string;
  readonly context: { readonly spanId: string };
  readonly parentSpanId: string | undefined;
  readonly startedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The description of its error. Undefined if it did not fail. */
  readonly failure: string | undefined;
}

/**
 * Lines such as `client tools/call meta`, children indented below their parents, in the order in which they began. `of`
 * adds words to a line.
 */
export function spanTree<Span extends SpanLike>(
  spans: readonly Span[],
  of: (span: Span) => string = () => "",
): readonly string[] {
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
export function withErrors({ failure, attributes }: SpanLike): string {
  return failure === undefined ? "" : ` [${String(attributes["error.type"])}]`;
}
