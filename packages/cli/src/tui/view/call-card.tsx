/** A tool call on the screen, with its images if the terminal can draw them. */

import { useStdout } from "ink";
import { type ReactElement, useContext, useEffect } from "react";
import type { CallCard } from "../state/transcript.ts";
import { callCardLines } from "./call-card-lines.ts";
import { Lines } from "./lines.tsx";
import { LookContext } from "./look.ts";
import { lastLines } from "./markdown/markdown.tsx";

export interface CallCardViewProps {
  readonly card: CallCard;
  readonly now: number;
  readonly width: number;
  /** Most rows; undefined for a complete item, which has no limit. */
  readonly height?: number;
}

export function CallCardView({ card, now, width, height }: CallCardViewProps): ReactElement {
  const lines = callCardLines(card, now, width);
  return <Lines lines={height === undefined ? lines : lastLines(lines, height)} />;
}

/** Draws the images once, below the finished items: text cannot be drawn over an image. */
export function Pictures({ media }: { readonly media: CallCard["media"] }): null {
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
