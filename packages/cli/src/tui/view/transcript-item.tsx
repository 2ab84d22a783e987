/** One item of the transcript. */

import { useStdout } from "ink";
import { type ReactElement, useContext, useEffect, useMemo } from "react";
import type { CallCard, TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "./call-card-lines.ts";
import { itemLines, type TextKind } from "./item-lines.ts";
import { Lines, LookContext } from "./lines.tsx";
import { lastLines, Markdown } from "./markdown/markdown.tsx";

export interface TranscriptItemProps {
  readonly item: TranscriptItem;
  readonly now: number;
  readonly width: number;
  /** Most rows while the item changes; undefined once it is complete. */
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

function TextItem({
  item,
  width,
  height,
}: {
  readonly item: TextKind;
  readonly width: number;
  readonly height?: number;
}): ReactElement {
  const lines = useMemo(() => itemLines(item, width), [item, width]);
  return <Lines lines={height === undefined ? lines : lastLines(lines, height)} />;
}

/** A tool call on the screen, with its images if the terminal can draw them. */
interface CallCardViewProps {
  readonly card: CallCard;
  readonly now: number;
  readonly width: number;
  /** Most rows; undefined for a complete item, which has no limit. */
  readonly height?: number;
}

function CallCardView({ card, now, width, height }: CallCardViewProps): ReactElement {
  const lines = callCardLines(card, now, width);
  return <Lines lines={height === undefined ? lines : lastLines(lines, height)} />;
}

/** Draws the images once, below the finished items: text cannot be drawn over an image. */
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
