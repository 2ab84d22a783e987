/**
 * Formats Markdown as lines. Makes texts safe to print after parsing, because parsing decodes entities such as `&#27;`.
 */

import { joinSafe, repeatSafe, type SafeText, safe, splitSafe, toSafeLine } from "@fairlead/core/text/safe-text";
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { breakLine, type Line, lineColumns, type Span, type SpanStyle, span, wrapLine } from "../line.ts";
import { outputLines, readingLines } from "../text-lines.ts";
import type { Highlight } from "./highlight.ts";

/** Longer blocks, in characters, are shown as plain text, because the Markdown parser can be slow. */
const longestBlock = 8000;

/** Returns Markdown as lines of `width` columns. Without `highlight`, code has no colours. */
export function markdownLines(text: string, width: number, highlight?: Highlight): readonly Line[] {
  const blocks = markdownBlocks(text).map((block) =>
    block.kind === "code" ? codeLines(block, width, highlight) : textLines(block.text, width, highlight),
  );
  return blocks.flatMap((lines, at) => (at === 0 ? lines : [[], ...lines]));
}

/** Whether the text has a code block that names its language. */
export function hasCode(text: string): boolean {
  return /^ {0,3}(?:`{3,}|~{3,})[ \t]*\w/m.test(text);
}

interface Code {
  readonly language: string;
  readonly code: string;
}

function codeLines({ language, code }: Code, width: number, highlight: Highlight | undefined): readonly Line[] {
  const clean = code.replaceAll("\t", "    ").replaceAll("\r", "");
  const bar = span(safe`┆ `, { isDim: true });
  const coloured = language === "" ? undefined : highlight?.(clean, language);
  const lines = coloured?.flatMap((line) => breakLine(line, width - 2)) ?? outputLines(clean, width - 2);
  const name = language === "" ? [] : [[bar, span(toSafeLine(language), { isDim: true })]];
  return [...name.flatMap((line) => breakLine(line, width)), ...lines.map((line) => [bar, ...line])];
}

function textLines(text: string, width: number, highlight: Highlight | undefined): readonly Line[] {
  const tokens = text.length > longestBlock ? undefined : lex(text);
  return tokens === undefined ? readingLines(text, width) : blockLines(tokens, { width, highlight });
}

/** Returns undefined if the text is nested too deeply for the parser. */
function lex(text: string): readonly Token[] | undefined {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

interface Where {
  readonly width: number;
  readonly highlight: Highlight | undefined;
}

function blockLines(tokens: readonly Token[], where: Where): readonly Line[] {
  return tokens.flatMap((token) => lineOfBlock(token as MarkedToken, where));
}

function lineOfBlock(token: MarkedToken, where: Where): readonly Line[] {
  const { width, highlight } = where;
  switch (token.type) {
    case "heading":
      return inlineLines(token.tokens, width, { isBold: true, isUnderlined: token.depth === 1 });
    case "code":
      return codeLines({ language: token.lang ?? "", code: token.text }, width, highlight);
    case "blockquote":
      return indented(where, { first: safe`┃ `, rest: safe`┃ ` }, (inner) => blockLines(token.tokens, inner));
    case "list":
      return token.items.flatMap((item, at) => itemLines(item, bulletOf(token, at), where));
    case "table":
      return tableLines(
        [token.header, ...token.rows].map((row) => row.map((cell) => inline(cell.tokens, {}))),
        width,
      );
    case "hr":
      return [[span(repeatSafe(safe`─`, Math.min(width, 40)), { isDim: true })]];
    case "paragraph":
      return inlineLines(token.tokens, width);
    case "text":
      return inlineLines(token.tokens ?? [token], width);
    case "space":
      return [[]];
    case "html":
    case "def":
      return readingLines(token.raw.trimEnd(), width);
    case "br":
    case "checkbox":
    case "codespan":
    case "del":
    case "em":
    case "escape":
    case "image":
    case "link":
    case "list_item":
    case "strong":
      return inlineLines([token], width);
  }
}

/** Text is not indented further if fewer columns than this would remain. */
const narrowest = 10;

function indented(
  where: Where,
  { first, rest }: { readonly first: SafeText; readonly rest: SafeText },
  lines: (inner: Where) => readonly Line[],
): readonly Line[] {
  const width = where.width - first.length;
  if (width < narrowest) return lines(where);
  return lines({ ...where, width }).map((line, at) => [span(at === 0 ? first : rest, { isDim: true }), ...line]);
}

function bulletOf({ ordered, start }: Tokens.List, at: number): SafeText {
  return ordered ? safe`${Number(start) + at}. ` : safe`• `;
}

function itemLines(item: Tokens.ListItem, bullet: SafeText, where: Where): readonly Line[] {
  const prefix = item.task ? (item.checked === true ? safe`${bullet}[x] ` : safe`${bullet}[ ] `) : bullet;
  const blocks = item.tokens.filter(({ type }) => type !== "checkbox");
  return indented(where, { first: prefix, rest: repeatSafe(safe` `, prefix.length) }, (inner) =>
    blocks.length === 0 ? [[]] : blockLines(blocks, inner),
  );
}

function inlineLines(tokens: readonly Token[], width: number, style: SpanStyle = {}): readonly Line[] {
  const lines: Span[][] = [[]];
  for (const each of inline(tokens, style))
    for (const [at, piece] of splitSafe(each.text).entries()) {
      if (at > 0) lines.push([]);
      lines.at(-1)?.push({ ...each, text: piece });
    }
  return lines.flatMap((line) => wrapLine(line, width));
}

function inline(tokens: readonly Token[], style: SpanStyle): readonly Span[] {
  return tokens.flatMap((token) => spansOf(token as MarkedToken, style));
}

function spansOf(token: MarkedToken, style: SpanStyle): readonly Span[] {
  switch (token.type) {
    case "strong":
      return inline(token.tokens, { ...style, isBold: true });
    case "em":
      return inline(token.tokens, { ...style, isItalic: true });
    case "del":
      return [span(safe`~`, style), ...inline(token.tokens, style), span(safe`~`, style)];
    case "codespan":
      return [span(shown(token.text), { ...style, colour: "cyan" })];
    case "link": {
      const words = inline(token.tokens, { ...style, isUnderlined: true });
      // The link's text could name another address, so the real address is always shown.
      const isSaid = token.text === token.href || `mailto:${token.text}` === token.href;
      return isSaid ? words : [...words, span(safe` (${toSafeLine(token.href)})`, { ...style, isDim: true })];
    }
    case "image":
      return [span(safe`[image: ${shown(token.text)}] (${toSafeLine(token.href)})`, style)];
    case "br":
      return [span(safe`\n`, style)];
    case "text":
      return token.tokens === undefined ? [span(shown(decoded(token.text)), style)] : inline(token.tokens, style);
    case "escape":
      return [span(shown(token.text), style)];
    // `itemLines` shows the box in front of the item. If there are empty lines between the items, the parser also puts
    // it into the item's paragraph.
    case "checkbox":
      return [];
    case "html":
    case "def":
    case "space":
    case "hr":
    case "heading":
    case "paragraph":
    case "blockquote":
    case "list":
    case "list_item":
    case "table":
    case "code":
      return [span(shown(token.raw), style)];
  }
}

const entities: ReadonlyMap<string, string> = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
]);

/** Decodes named entities such as `&amp;`. The parser decodes only numeric entities. */
function decoded(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot);/g, (entity) => entities.get(entity) ?? entity);
}

/** A line break inside a paragraph becomes a space. */
function shown(text: string): SafeText {
  return toSafeLine(text.replaceAll(/[ \t]*\n[ \t]*/g, " ").replaceAll("\t", "    "));
}

type MarkdownBlock =
  | { readonly kind: "code"; readonly language: string; readonly code: string }
  | { readonly kind: "text"; readonly text: string };

const fence = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)/;
/** Matches a code fence at any indent, for example inside a list. */
const innerFence = /^\s*(`{3,}|~{3,})/;
/** Matches a line that continues the block above, even after an empty line: indented text or a list item. */
const continues = /^(?:\s|[-*+] |\d{1,9}[.)] )/;

/** Splits Markdown into text and code blocks. A code block without a closing fence extends to the end. */
function markdownBlocks(text: string): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let lines: string[] = [];
  let inner: string | undefined;
  let isAfterBlank = false;

  function flush(): void {
    const joined = lines.join("\n").trimEnd();
    if (joined.trim() !== "") blocks.push({ kind: "text", text: joined });
    lines = [];
  }

  const rows = text.split("\n");
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] ?? "";
    const opening = inner === undefined ? fence.exec(row) : null;
    if (opening !== null) {
      flush();
      const end = closingRow(rows, at + 1, opening[2] ?? "");
      blocks.push({ kind: "code", language: opening[3] ?? "", code: rows.slice(at + 1, end).join("\n") });
      at = end;
      isAfterBlank = false;
      continue;
    }
    if (isAfterBlank && inner === undefined && row.trim() !== "" && !continues.test(row)) flush();
    const marker = innerFence.exec(row)?.[1];
    if (marker !== undefined) inner = inner === undefined ? marker : row.trim().startsWith(inner) ? undefined : inner;
    isAfterBlank = row.trim() === "";
    lines.push(row);
  }
  flush();
  return blocks;
}

/** Returns the index of the row that closes the code block, or `rows.length` if there is none. */
function closingRow(rows: readonly string[], from: number, marker: string): number {
  const closing = new RegExp(`^ {0,3}${marker.charAt(0)}{${marker.length},}\\s*$`);
  const found = rows.findIndex((row, at) => at >= from && closing.test(row));
  return found === -1 ? rows.length : found;
}

const gap = 3;
const narrowestColumn = 6;

/** Formats a table in columns, or as `head: cell` lines if the columns do not fit. The first row is the head. */
export function tableLines(rows: readonly (readonly Line[])[], width: number): readonly Line[] {
  const [head = [], ...body] = rows;
  const wanted = head.map((_, at) => Math.max(1, ...rows.map((row) => lineColumns(row[at] ?? []))));
  const widths = fit(wanted, width - gap * (head.length - 1));
  if (widths === undefined) return body.flatMap((row) => listed(head, row, width));
  const rule: Line = [
    span(
      joinSafe(
        widths.map((each) => repeatSafe(safe`─`, each)),
        safe`─┼─`,
      ),
      { isDim: true },
    ),
  ];
  return [...beside(head.map(bold), widths), rule, ...body.flatMap((row) => beside(row, widths))];
}

function bold(line: Line): Line {
  return line.map((each) => ({ ...each, isBold: true }));
}

/** Returns the column widths. The widest columns shrink first. Returns undefined if the table cannot fit. */
function fit(wanted: readonly number[], room: number): readonly number[] | undefined {
  const widths = [...wanted];
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const now = widths[widest] ?? 0;
    if (now <= narrowestColumn) return undefined;
    const second = Math.max(narrowestColumn, ...widths.filter((_, at) => at !== widest && (widths[at] ?? 0) < now));
    const less = Math.max(1, Math.min(excess, now - second));
    widths[widest] = now - less;
    excess -= less;
  }
  return widths;
}

function beside(cells: readonly Line[], widths: readonly number[]): readonly Line[] {
  const wrapped = widths.map((each, at) => wrapLine(cells[at] ?? [], each));
  const height = Math.max(1, ...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    widths.flatMap((each, at) => {
      const line = wrapped[at]?.[row] ?? [];
      const isLast = at === widths.length - 1;
      const padding = repeatSafe(safe` `, each - lineColumns(line));
      return isLast ? line : [...line, span(padding), span(safe` │ `, { isDim: true })];
    }),
  );
}

function listed(head: readonly Line[], row: readonly Line[], width: number): readonly Line[] {
  const lines = row.flatMap((cell, at) => wrapLine([...bold(head[at] ?? []), span(safe`: `), ...cell], width));
  return [...lines, []];
}
