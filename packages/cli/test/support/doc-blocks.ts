/** The fenced blocks of README and docs. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export interface Block {
  /** The text after the opening back quotes. */
  readonly fence: string;
  readonly code: string;
  /** Page and line. */
  readonly at: string;
}

/** README in both languages, and every page of the docs. */
export const pages: readonly string[] = [
  "README.md",
  "README.zh-CN.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .sort(),
];

/** Returns the blocks of a page. Throws for a block inside a block, and for one that does not end. */
export function blocksOf(page: string): readonly Block[] {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const blocks: Block[] = [];
  let open: { readonly fence: string; readonly line: number } | undefined;
  for (const [index, line] of lines.entries()) {
    if (!line.trimStart().startsWith("```")) continue;
    const at = `${page}:${index + 1}`;
    if (line !== line.trimStart()) throw new Error(`${at}: this fence does not begin its line`);
    if (open === undefined) open = { fence: line.slice(3).trim(), line: index };
    else if (line !== "```") throw new Error(`${at}: a block begins inside a block`);
    else {
      const code = lines.slice(open.line + 1, index).join("\n");
      blocks.push({ fence: open.fence, code, at: `${page}:${open.line + 1}` });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${page} ends inside a block`);
  return blocks;
}
