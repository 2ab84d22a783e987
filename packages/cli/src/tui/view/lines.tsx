/** Draws lines with Ink, and turns their styles into escape sequences. */

import { Box, Text } from "ink";
import { type Context, createContext, createElement, type ReactElement, useContext } from "react";
import type { DrawImage } from "../../output/reports/inline-image.ts";
import type { Line, Span } from "./line.ts";
import type { Highlighter } from "./markdown/highlighter.ts";

/**
 * Up to this many rows, each row is its own Ink element, so that Ink measures only changed rows. More rows become one
 * element.
 */
const mostRows = 100;

/** Draws lines. They must already fit the width of the screen. */
export function Lines({ lines }: { readonly lines: readonly Line[] }): ReactElement {
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

/** Ink gives an empty text no height, so a line without text becomes a space. */
function toSpans(line: Line, hasColour: boolean): readonly (ReactElement | string)[] {
  if (line.every(({ text }) => text === "")) return [" "];
  return line.map((each) => (isPlain(each) ? each.text : createElement(Styled, { span: each, hasColour })));
}

function isPlain(each: Span): boolean {
  return Object.entries(each).every(([name, value]) => name === "text" || value === undefined);
}

/** Written directly, because Ink applies no styles if colours are off. The cursor must be visible anyway. */
const [inverse, plain] = ["\u001b[7m", "\u001b[27m"];

function Styled({ span, hasColour }: { readonly span: Span; readonly hasColour: boolean }): ReactElement {
  const { text, colour, isBold = false, isDim = false, isItalic = false, isUnderlined = false, isInverse } = span;
  return (
    <Text
      color={hasColour ? colour : undefined}
      bold={isBold}
      dimColor={isDim}
      italic={isItalic}
      underline={isUnderlined}
    >
      {isInverse === true ? `${inverse}${text}${plain}` : text}
    </Text>
  );
}

/** What the terminal can show: colours, highlighted code, images. */
export interface Look {
  readonly hasColour: boolean;
  readonly highlighter?: Pick<Highlighter, "get" | "want" | "subscribe">;
  /** Draws an image. Absent if the terminal cannot draw images. */
  readonly draw?: DrawImage;
}

/** Gives all views what the terminal can show. Default: colours only. */
export const LookContext: Context<Look> = createContext<Look>({ hasColour: true });
