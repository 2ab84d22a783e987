/** One item of the transcript. */

import { type ReactElement, useMemo } from "react";
import type { TranscriptItem } from "../state/transcript.ts";
import { CallCardView, Pictures } from "./call-card.tsx";
import { itemLines, type TextKind } from "./item-lines.ts";
import { Lines } from "./lines.tsx";
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
