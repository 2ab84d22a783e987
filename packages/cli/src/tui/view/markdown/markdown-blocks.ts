/** Splits an answer into blocks; while it grows, only the last block changes. Pure. */

export type MarkdownBlock =
  | { readonly kind: "code"; readonly language: string; readonly code: string }
  | { readonly kind: "text"; readonly text: string };

const fence = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)/;
/** A fence inside a list. */
const innerFence = /^\s*(`{3,}|~{3,})/;
/** Continues a block after an empty line: indented text, or the next list item. */
const continues = /^(?:\s|[-*+] |\d{1,9}[.)] )/;

/** Splits Markdown into blocks; an open fence is code up to the end. */
export function markdownBlocks(text: string): readonly MarkdownBlock[] {
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
    const mark = innerFence.exec(row)?.[1];
    if (mark !== undefined) inner = inner === undefined ? mark : row.trim().startsWith(inner) ? undefined : inner;
    isAfterBlank = row.trim() === "";
    lines.push(row);
  }
  flush();
  return blocks;
}

/** The row that closes the fence, or `rows.length`. */
function closingRow(rows: readonly string[], from: number, mark: string): number {
  const closing = new RegExp(`^ {0,3}${mark.charAt(0)}{${mark.length},}\\s*$`);
  const found = rows.findIndex((row, at) => at >= from && closing.test(row));
  return found === -1 ? rows.length : found;
}
