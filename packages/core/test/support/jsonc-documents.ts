/** Random JSONC documents for property tests: comments in every place, commas, line breaks and indentation as people have them. */

import fc from "fast-check";

/** A text, and the value that it stands for. */
export interface Written {
  readonly text: string;
  readonly value: unknown;
}

/** Names that have hurt someone, and few enough that duplicates are common. */
export const names: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "mcpServers",
    "__proto__",
    "constructor",
    "toString",
    "",
    " ",
    "//",
    "/*",
    "*/",
    '"',
    "\\",
    ",",
    "}",
  ),
  fc.constantFrom("ключ", "名", "🚢", "e\u0301", "\u2028", "\uFEFF", "\n", "\u0000", "a.b", "ı"),
  fc.string({ maxLength: 6 }),
);

const layouts = fc.record({
  eol: fc.constantFrom("\n", "\r\n", "\r"),
  unit: fc.constantFrom("  ", "    ", "\t"),
  mark: fc.constantFrom("", "\uFEFF"),
});

interface Layout {
  readonly eol: string;
  readonly unit: string;
}

/** Blanks, line breaks and comments, as they may stand between any two tokens. */
function gaps({ eol, unit }: Layout): fc.Arbitrary<string> {
  const words = fc.constantFrom("", "note", "it's", '"quoted"', "{", "}", ",", "[ ]", "http://x", "é", "/*", "old: 1,");
  const lineComment = words.map((word) => `// ${word}${eol}`);
  const blockComment = fc.tuple(words, words).map(([one, other]) => `/* ${one.replace("*/", "")}${eol}${other} */`);
  const shortComment = words.map((word) => `/*${word}*/`);
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("", " ", `${eol}${unit}`, `${eol}${unit}${unit}`) },
    { weight: 1, arbitrary: fc.constantFrom("\t", "   ", eol, ` ${eol}`) },
    { weight: 1, arbitrary: fc.oneof(lineComment, blockComment, shortComment) },
  );
  return fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
}

/** An empty object spread over several lines does not come back after set and remove; it has a test of its own. */
function isSpreadAndEmpty(gap: string): boolean {
  return gap.trim() === "" && /[\r\n]/.test(gap);
}

function values(layout: Layout, depth: number): fc.Arbitrary<Written> {
  const scalar = fc
    .oneof(fc.constantFrom(null, true, false, 0, -1.5, 1e21), fc.string({ maxLength: 5 }), names)
    .map((value) => ({ text: JSON.stringify(value), value }));
  if (depth === 0) return scalar;
  return fc.oneof(scalar, objects(layout, depth), arrays(layout, depth));
}

interface Items {
  readonly items: readonly Written[];
  readonly gap: string;
  readonly hasTrailingComma: boolean;
}

function join({ items, gap, hasTrailingComma }: Items): string {
  if (items.length === 0) return isSpreadAndEmpty(gap) ? "" : gap;
  return `${items.map(({ text }) => text).join(",")}${hasTrailingComma ? "," : ""}${gap}`;
}

function arrays(layout: Layout, depth: number): fc.Arbitrary<Written> {
  const gap = gaps(layout);
  const item = fc
    .tuple(gap, values(layout, depth - 1), gap)
    .map(([before, { text, value }, after]) => ({ text: before + text + after, value }));
  return fc
    .record({ items: fc.array(item, { maxLength: 3 }), gap, hasTrailingComma: fc.boolean() })
    .map((parts) => ({ text: `[${join(parts)}]`, value: parts.items.map(({ value }) => value) }));
}

export function objects(layout: Layout, depth: number): fc.Arbitrary<Written> {
  const gap = gaps(layout);
  const item = fc
    .tuple(gap, names, gap, gap, values(layout, depth - 1), gap)
    .map(([before, name, beforeColon, afterColon, { text, value }, after]) => ({
      text: `${before}${JSON.stringify(name)}${beforeColon}:${afterColon}${text}${after}`,
      value: [name, value] as const,
    }));
  return fc
    .record({ items: fc.array(item, { maxLength: 4 }), gap, hasTrailingComma: fc.boolean() })
    .map((parts) => ({ text: `{${join(parts)}}`, value: Object.fromEntries(parts.items.map(({ value }) => value)) }));
}

/** A whole document whose value is an object. */
export const documents: fc.Arbitrary<Written> = layouts.chain((layout) =>
  fc
    .tuple(gaps(layout), objects(layout, 3), gaps(layout))
    .map(([before, { text, value }, after]) => ({ text: layout.mark + before + text + after, value })),
);
