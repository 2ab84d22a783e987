/**
 * Markdown of a server or a model. It becomes elements of an allow-list only: no images, no styles, no ids, and links to
 * the web alone. The parser and the sanitizer are loaded with the first text.
 */

import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { LeaveDialog } from "./link.tsx";
import { Text, visibleText } from "./text.tsx";
import { useModule } from "./use-module.ts";

/** Whether a text without a type looks like markdown: headings, lists, code, emphasis or a table. */
export function mayBeMarkdown(text: string): boolean {
  const start = text.slice(0, 10_000);
  return (
    /^(?:#{1,6} |[-*] |\d+\. |```|\|.+\|$|> )/m.test(start) ||
    /\*\*[^*\n]{1,200}\*\*|\[[^\]\n]{1,200}\]\([^)\n]{1,500}\)/.test(start)
  );
}

/** A longer text is shown as it is: parsing it would hold up the page. */
const longest = 200_000;
/** About as many steps as the parser makes in a second on a slow machine. */
const mostSteps = 100_000_000;

/**
 * About how many steps the parser needs: it compares each special character of a paragraph with the rest of the paragraph, and each item
 * of a list with the rest of the text. Some kilobytes of a hostile server could hold up the page for minutes.
 */
function stepsOf(text: string): number {
  const items = text.match(/^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/gm)?.length ?? 0;
  return text.split(/\n[ \t]*\n/).reduce((sum, paragraph) => {
    const specialCharacters = paragraph.match(/[*_[\]`<~!\\@&]/g)?.length ?? 0;
    return sum + specialCharacters * paragraph.length;
  }, items * text.length);
}

const loadParser = () => import("./markdown-fragment.ts");
type Blocks = InstanceType<Awaited<ReturnType<typeof loadParser>>["MarkdownBlocks"]>;

export function Markdown({ text }: { readonly text: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [leaving, setLeaving] = useState<URL>();
  const blocks = useRef<Blocks>(undefined);
  const parser = useModule(loadParser);
  const isShort = useMemo(() => text.length <= longest && stepsOf(text) <= mostSteps, [text]);
  const isReady = parser !== undefined && isShort;
  useLayoutEffect(() => {
    if (parser === undefined || !isShort || box.current === null) return;
    blocks.current ??= new parser.MarkdownBlocks(box.current, setLeaving);
    blocks.current.show(visibleText(text, true));
  }, [text, parser, isShort]);
  return (
    <>
      <div ref={box} class="markdown" hidden={!isReady} />
      {!isShort && <p class="muted">Not formatted: it would hold up the page.</p>}
      {!isReady && <Text of={text} lines class="block-plain" />}
      {leaving !== undefined && <LeaveDialog target={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}
