/**
 * Markdown of a server or a model. It becomes elements of an allow-list only: no images, no styles, no ids, and links to
 * the web alone. The parser and the sanitizer are loaded with the first text.
 */

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { LeaveDialog } from "./link.tsx";
import { Text, visibleText } from "./text.tsx";
import { useModule } from "./use-module.ts";

/** Whether a text without a type looks like markdown: headings, lists, code, emphasis or a table. */
export function mayBeMarkdown(text: string): boolean {
  return /^(?:#{1,6} |[-*] |\d+\. |```|\|.+\|$|> )/m.test(text) || /\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\n]+\)/.test(text);
}

/** A longer text is shown as it is: parsing it would hold up the page. */
const longest = 200_000;

const loadParser = () => import("./markdown-fragment.ts");
type Blocks = InstanceType<Awaited<ReturnType<typeof loadParser>>["MarkdownBlocks"]>;

export function Markdown({ text }: { readonly text: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [leaving, setLeaving] = useState<URL>();
  const blocks = useRef<Blocks>(undefined);
  const parser = useModule(loadParser);
  const isShort = text.length <= longest;
  const isReady = parser !== undefined && isShort;
  useLayoutEffect(() => {
    if (parser === undefined || !isShort || box.current === null) return;
    blocks.current ??= new parser.MarkdownBlocks(box.current, setLeaving);
    blocks.current.show(visibleText(text, true));
  }, [text, parser, isShort]);
  return (
    <>
      <div ref={box} class="markdown" hidden={!isReady} />
      {!isReady && <Text of={text} lines class="block-plain" />}
      {leaving !== undefined && <LeaveDialog target={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}
