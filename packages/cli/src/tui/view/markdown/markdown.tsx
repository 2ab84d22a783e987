/** An answer of the model on the screen. */

import { safe } from "@fairlead/core/text/safe-text";
import { type ReactElement, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { type Line, span } from "../line.ts";
import { Lines, LookContext } from "../lines.tsx";
import { hasCode, markdownLines } from "./markdown-lines.ts";

export interface MarkdownProps {
  readonly text: string;
  readonly width: number;
  /** False while the answer grows: then only its last rows are shown. */
  readonly isDone: boolean;
  readonly height: number;
}

const never = (): (() => void) => () => undefined;
const nothing = (): undefined => undefined;

export function Markdown({ text, width, isDone, height }: MarkdownProps): ReactElement {
  const { highlighter } = useContext(LookContext);
  const highlight = useSyncExternalStore(highlighter?.subscribe ?? never, highlighter?.get ?? nothing);
  const needsColours = hasCode(text);
  useEffect(() => {
    if (needsColours) highlighter?.want();
  }, [needsColours, highlighter]);
  const lines = useMemo(() => markdownLines(text, width, highlight), [text, width, highlight]);
  return <Lines lines={isDone ? lines : lastLines(lines, height)} />;
}

/** The last rows that fit: a terminal cannot change rows in its scrollback. */
export function lastLines(lines: readonly Line[], height: number): readonly Line[] {
  if (lines.length <= height) return lines;
  const kept = lines.slice(lines.length - Math.max(1, height - 1));
  return [[span(safe`… ${lines.length - kept.length} rows above`, { isDim: true })], ...kept];
}
