/** Lines on the screen, one row each. The only place where styles become the terminal's. */

import { Box, Text } from "ink";
import { createElement, type ReactElement, useContext } from "react";
import type { Line, Span } from "./line.ts";
import { LookContext } from "./look.ts";

export interface LinesProps {
  readonly lines: readonly Line[];
}

/** A text of its own for each row costs more than a row should; but Ink keeps every text that it has measured, and rows change one by one. */
const mostRows = 100;

/** The lines fit already: nothing is left for Ink to wrap. A row is known by its place, so it needs no key. */
export function Lines({ lines }: LinesProps): ReactElement {
  const { hasColour } = useContext(LookContext);
  const rows = lines.map((line) => toSpans(line, hasColour));
  if (lines.length > mostRows)
    return createElement(Text, { wrap: "truncate" }, ...rows.flatMap((row, at) => (at === 0 ? row : ["\n", ...row])));
  return createElement(
    Box,
    { flexDirection: "column" },
    ...rows.map((row) => createElement(Text, { wrap: "truncate" }, ...row)),
  );
}

/** A row of nothing would have no height. */
function toSpans(line: Line, hasColour: boolean): readonly (ReactElement | string)[] {
  if (line.length === 0) return [" "];
  return line.map((each) => (isPlain(each) ? each.text : createElement(Styled, { span: each, hasColour })));
}

function isPlain(each: Span): boolean {
  return Object.keys(each).every((name) => name === "text");
}

/** Inverse by itself, and not as a colour: it may be the only sign of where the cursor is. */
const [inverse, plain] = ["\u001b[7m", "\u001b[27m"];

function Styled({ span, hasColour }: { readonly span: Span; readonly hasColour: boolean }): ReactElement {
  const { text, colour, isBold = false, isDim = false, isItalic = false, isUnderlined = false, isInverse } = span;
  return (
    <Text
      {...(hasColour && colour !== undefined && { color: colour })}
      bold={isBold}
      dimColor={isDim}
      italic={isItalic}
      underline={isUnderlined}
    >
      {isInverse === true ? `${inverse}${text}${plain}` : text}
    </Text>
  );
}
