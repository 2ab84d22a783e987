/** Draws lines with Ink, one row each. The only place that turns styles into escape sequences. */

import { Box, Text } from "ink";
import { type Context, createContext, createElement, type ReactElement, useContext } from "react";
import type { DrawImage } from "../../output/reports/inline-image.ts";
import type { Line, Span } from "./line.ts";
import type { Highlighter } from "./markdown/highlighter.ts";

export interface LinesProps {
  readonly lines: readonly Line[];
}

/** One Ink text for each row is slow for many rows, but one text for all is measured again when a single row changes. */
const mostRows = 100;

/** The lines fit already, so Ink does not wrap them. Rows are identified by position and need no key. */
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

/** An empty row becomes a space: otherwise it has no height. */
function toSpans(line: Line, hasColour: boolean): readonly (ReactElement | string)[] {
  if (line.length === 0) return [" "];
  return line.map((each) => (isPlain(each) ? each.text : createElement(Styled, { span: each, hasColour })));
}

function isPlain(each: Span): boolean {
  return Object.keys(each).every((name) => name === "text");
}

/** Inverse is written directly, so that the cursor is visible without colours too. */
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

/** The terminal's abilities, for the views: colours, code highlighting, image drawing. */
export interface Look {
  readonly hasColour: boolean;
  readonly highlighter?: Highlighter;
  /** Set if the terminal can draw images. */
  readonly draw?: DrawImage;
}

export const LookContext: Context<Look> = createContext<Look>({ hasColour: true });
