/** Draws one item of the transcript. */

import { safe } from "@fairlead/core/text/safe-text";
import { useStdout } from "ink";
import { type ReactElement, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import type { CallCard, TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "./call-card-lines.ts";
import { itemLines, type TextKind } from "./item-lines.ts";
import { type Line, span } from "./line.ts";
import { Lines, LookContext } from "./lines.tsx";
import { hasCode, markdownLines } from "./markdown/markdown-lines.ts";

export interface TranscriptItemProps {
  readonly item: TranscriptItem;
  readonly now: number;
  readonly width: number;
  /** Maximum number of rows while the item can still change. Undefined once the item is complete. */
  readonly height?: number;
}

/** Draws an item after a blank row. */
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

/** Prints a call's images once, outside the frames that Ink redraws: Ink cannot redraw text over an image. */
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
  /** Whether the answer is complete. While it grows, only its last rows are shown. */
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

/** Returns the last rows that fit. Earlier rows would move into the scrollback, where a terminal cannot change them. */
function lastLines(lines: readonly Line[], height: number): readonly Line[] {
  if (lines.length <= height) return lines;
  const kept = lines.slice(lines.length - Math.max(1, height - 1));
  return [[span(safe`… ${lines.length - kept.length} rows above`, { isDim: true })], ...kept];
}
