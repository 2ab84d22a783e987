/**
 * Markdown of a server or a model. It becomes elements of an allow-list only: no images, no styles, no ids, and links to
 * the web alone. The parser and the sanitizer are loaded with the first text.
 */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LeaveDialog } from "./link.tsx";
import { Text, visibleText } from "./text.tsx";

/** Whether a text without a type looks like markdown: headings, lists, code, emphasis or a table. */
export function mayBeMarkdown(text: string): boolean {
  return /^(?:#{1,6} |[-*] |\d+\. |```|\|.+\|$|> )/m.test(text) || /\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\n]+\)/.test(text);
}

/** A longer text is shown as it is: parsing it would hold up the page. */
const longest = 200_000;

export function Markdown({ text }: { readonly text: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [isReady, setReady] = useState(false);
  const [leaving, setLeaving] = useState<URL>();
  useEffect(() => {
    let isGone = false;
    if (text.length > longest) return undefined;
    void import("./markdown-fragment.ts").then(({ markdownFragment }) => {
      if (isGone || box.current === null) return;
      box.current.replaceChildren(markdownFragment(visibleText(text, true), setLeaving));
      setReady(true);
    });
    return () => {
      isGone = true;
    };
  }, [text]);
  return (
    <>
      <div ref={box} class="markdown" />
      {!isReady && <Text of={text} lines class="block-plain" />}
      {leaving !== undefined && <LeaveDialog target={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}
