/** Highlights code with the library lowlight. The library is large, so `highlighter.ts` loads this file on demand. */

import { toSafeLine } from "@fairlead/core/text/safe-text";
import { common, createLowlight } from "lowlight";
import { type Line, type Span, type SpanStyle, span } from "../line.ts";

/** Returns the code as coloured lines, not yet wrapped. Returns undefined for an unknown language or very long code. */
export type Highlight = (code: string, language: string) => readonly Line[] | undefined;

/** Longer code, in characters, is not highlighted, because that would take too long. */
const longestCode = 50_000;

const styles: readonly (readonly [classes: RegExp, style: SpanStyle])[] = [
  [/hljs-(?:comment|quote|meta)/, { isDim: true }],
  [/hljs-(?:keyword|selector-tag|type|built_in)/, { colour: "magenta" }],
  [/hljs-(?:string|regexp|addition|symbol|bullet)/, { colour: "green" }],
  [/hljs-(?:number|literal|variable|template-variable|attr|attribute|property)/, { colour: "yellow" }],
  [/hljs-(?:title|section|name|tag|function)/, { colour: "blue" }],
  [/hljs-deletion/, { colour: "red" }],
];

/** Creates the function that highlights code, for the common languages. */
export function createHighlight(): Highlight {
  const lowlight = createLowlight(common);
  return (code, language) => {
    const name = language.toLowerCase();
    if (code.length > longestCode || !lowlight.registered(name)) return undefined;
    return linesOf(lowlight.highlight(name, code));
  };
}

/** A node of lowlight's syntax tree. */
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
