/** Descriptions from a server as indented lines: the first paragraph, or the whole text. */

import { toKey } from "@fairlead/core/normalise/schema/write/type-text";
import { type SafeText, safe, splitSafe, toSafeText, toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { fill, words } from "../wrap.ts";

const indent: SafeText = safe`      `;

const longestParagraph = 400;
const longestText = 20_000;
const longestRemark = 2000;

export function descriptionLines(
  description: string,
  { columns, all }: { readonly columns: number; readonly all: boolean },
): readonly SafeText[] {
  const text = all ? clip(description.trim(), longestText) : firstParagraph(description.trim());
  const layout = { columns, indent, hanging: indent };
  return lines(text).flatMap((line) => (line.trim() === "" ? [safe``] : fill(words(line), layout)));
}

/** `name: description` of one parameter; empty if it has no description. */
export function remarkLines(name: string, remark: unknown, columns: number): readonly SafeText[] {
  if (typeof remark !== "string" || remark.trim() === "") return [];
  const text = clip(remark.replaceAll(/\s+/g, " ").trim(), longestRemark);
  const line = safe`${toVisibleLine(toKey(name))}: ${toSafeText(text)}`;
  return fill(words(line), { columns, indent, hanging: safe`${indent}  ` });
}

function firstParagraph(text: string): string {
  const [paragraph = ""] = text.split(/\n[^\S\n]*\n|\r\n[^\S\n]*\r\n/, 1);
  if (paragraph.length > longestParagraph) return clip(paragraph, longestParagraph).replace(/\s+\S*$/, " …");
  return paragraph.length < text.length ? `${paragraph.trimEnd()} …` : paragraph;
}

function lines(text: string): readonly SafeText[] {
  return text === "" ? [] : splitSafe(toSafeText(text));
}
