/** Draws lines with Ink, one row for each line. Only this file turns styles into escape sequences. */

import { Box, Text } from "ink";
import { type Context, createContext, createElement, type ReactElement, useContext } from "react";
import type { DrawImage } from "../../output/reports/inline-image.ts";
import type { Line, Span } from "./line.ts";
import type { Highlighter } from "./markdown/highlighter.ts";

export interface LinesProps {
  readonly lines: readonly Line[];
}

/**
 * Up to this number of rows, each row is an Ink `Text` element of its own, so that Ink measures only changed rows. A
 * longer list of rows is one element.
 */
const mostRows = 100;

/** Draws lines, which must already fit the width of the screen. */
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

/** Returns the spans of a row. An empty row becomes a space, because Ink gives an empty text no height. */
function toSpans(line: Line, hasColour: boolean): readonly (ReactElement | string)[] {
  if (line.length === 0) return [" "];
  return line.map((each) => (isPlain(each) ? each.text : createElement(Styled, { span: each, hasColour })));
}

function isPlain(each: Span): boolean {
  return Object.keys(each).every((name) => name === "text");
}

/** The escape sequences for inverse text, written directly so that the cursor is visible even without colours. */
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

/** What the terminal can do, for the views: colours, code highlighting, drawing images. */
export interface Look {
  readonly hasColour: boolean;
  readonly highlighter?: Highlighter;
  /** Draws images. Set only if the terminal can draw them. */
  readonly draw?: DrawImage;
}

export const LookContext: Context<Look> = createContext<Look>({ hasColour: true });
