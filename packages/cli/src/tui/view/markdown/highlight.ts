/** Highlights the syntax of code. This module is large, so `highlighter.ts` loads it on demand. */

import { toSafeLine } from "@fairlead/core/text/safe-text";
import { common, createLowlight } from "lowlight";
import { type Line, type Span, type SpanStyle, span } from "../line.ts";

/** Returns the lines of the code, not yet wrapped to a width. Returns undefined for an unknown language. */
export type Highlight = (code: string, language: string) => readonly Line[] | undefined;

/** Maximum length of highlighted code, in characters, because highlighting longer code takes too long. */
const longestCode = 50_000;

const styles: readonly (readonly [classes: RegExp, style: SpanStyle])[] = [
  [/hljs-(?:comment|quote|meta)/, { isDim: true }],
  [/hljs-(?:keyword|selector-tag|type|built_in)/, { colour: "magenta" }],
  [/hljs-(?:string|regexp|addition|symbol|bullet)/, { colour: "green" }],
  [/hljs-(?:number|literal|variable|template-variable|attr|attribute|property)/, { colour: "yellow" }],
  [/hljs-(?:title|section|name|tag|function)/, { colour: "blue" }],
  [/hljs-deletion/, { colour: "red" }],
];

export function createHighlight(): Highlight {
  const lowlight = createLowlight(common);
  return (code, language) => {
    const name = language.toLowerCase();
    if (code.length > longestCode || !lowlight.registered(name)) return undefined;
    return linesOf(lowlight.highlight(name, code));
  };
}

/** The members of a syntax tree node that this file uses. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly [name: string]: unknown };
  readonly children?: readonly Node[];
}

function linesOf(root: Node): readonly Line[] {
  const lines: Span[][] = [[]];

  function walk(node: Node, style: SpanStyle): void {
    if (node.type === "text")
      for (const [at, piece] of (node.value ?? "").split("\n").entries()) {
        if (at > 0) lines.push([]);
        if (piece !== "") lines.at(-1)?.push(span(toSafeLine(piece), style));
      }
    const own = styleOf(node);
    for (const child of node.children ?? []) walk(child, own ?? style);
  }

  walk(root, {});
  return lines;
}

function styleOf({ properties }: Node): SpanStyle | undefined {
  const classes = [properties?.["className"]].flat().join(" ");
  return styles.find(([pattern]) => pattern.test(classes))?.[1];
}
