/** Draws one item of the transcript, such as an answer or a tool call. */

import { safe } from "@fairlead/core/text/safe-text";
import { useStdout } from "ink";
import { type ReactElement, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import type { CallCard, TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "./call-card-lines.ts";
import { itemLines, type TextKind } from "./item-lines.ts";
import { type Line, span } from "./line.ts";
import { Lines, LookContext } from "./lines.tsx";
import { hasCode, markdownLines } from "./markdown/markdown-lines.ts";

/** The item to draw. `now`: milliseconds on the session's clock. */
export interface TranscriptItemProps {
  readonly item: TranscriptItem;
  readonly now: number;
  readonly width: number;
  /** Maximum number of rows of an unfinished item. Undefined for a complete item, which is shown in full. */
  readonly height?: number;
}

/** Draws an item, with an empty row above it. */
export function TranscriptItemView({ item, now, width, height }: TranscriptItemProps): ReactElement {
  const room = height === undefined ? {} : { height: Math.max(1, height - 1) };
  switch (item.kind) {
    case "answer":
      return (
        <Spaced>
          <Markdown text={item.text} width={width} isDone={height === undefined} height={room.height ?? 0} />
        </Spaced>
      );
    case "call":
      return (
        <Spaced>
          <CallCardView card={item.call} now={now} width={width} {...room} />
          {height === undefined && item.call.media.length > 0 && <Pictures media={item.call.media} />}
        </Spaced>
      );
    case "person":
    case "thought":
    case "note":
    case "output":
      return (
        <Spaced>
          <TextItem item={item} width={width} {...room} />
        </Spaced>
      );
  }
}

function Spaced({ children }: { readonly children: ReactElement | readonly (ReactElement | false)[] }): ReactElement {
  return (
    <>
      <Lines lines={[[]]} />
      {children}
    </>
  );
}

interface TextItemProps extends Pick<TranscriptItemProps, "width" | "height"> {
  readonly item: TextKind;
}

function TextItem({ item, width, height }: TextItemProps): ReactElement {
  const lines = useMemo(() => itemLines(item, width), [item, width]);
  return <Lines lines={height === undefined ? lines : lastLines(lines, height)} />;
}

interface CallCardViewProps extends Omit<TranscriptItemProps, "item"> {
  readonly card: CallCard;
}

function CallCardView({ card, now, width, height }: CallCardViewProps): ReactElement {
  const lines = callCardLines(card, now, width);
  return <Lines lines={height === undefined ? lines : lastLines(lines, height)} />;
}

/** Ink cannot redraw an image. So the images are printed once, outside the part that Ink redraws. */
function Pictures({ media }: { readonly media: CallCard["media"] }): null {
  const { draw } = useContext(LookContext);
  const { write } = useStdout();
  useEffect(() => {
    for (const { mimeType, data } of media) {
      const what = mimeType.startsWith("image/") ? "image" : "audio";
      const picture = draw?.({ what, mimeType, data });
      if (picture !== undefined) write(`${picture}\n`);
    }
  }, [draw, write, media]);
  return null;
}

interface MarkdownProps {
  readonly text: string;
  readonly width: number;
  /** If false, only the last rows are shown, because the answer still grows. */
  readonly isDone: boolean;
  readonly height: number;
}

const never = (): (() => void) => () => undefined;
const nothing = (): undefined => undefined;

function Markdown({ text, width, isDone, height }: MarkdownProps): ReactElement {
  const { highlighter } = useContext(LookContext);
  const highlight = useSyncExternalStore(highlighter?.subscribe ?? never, highlighter?.get ?? nothing);
  const needsColours = hasCode(text);
  useEffect(() => {
    if (needsColours) highlighter?.want();
  }, [needsColours, highlighter]);
  const lines = useMemo(() => markdownLines(text, width, highlight), [text, width, highlight]);
  return <Lines lines={isDone ? lines : lastLines(lines, height)} />;
}

/** Returns the last rows that fit. Rows in the scrollback could not be redrawn when the item changes. */
function lastLines(lines: readonly Line[], height: number): readonly Line[] {
  if (lines.length <= height) return lines;
  const kept = lines.slice(lines.length - Math.max(1, height - 1));
  return [[span(safe`… ${lines.length - kept.length} rows above`, { isDim: true })], ...kept];
}
