import { expect, test } from "vitest";
import { type Block, blocksOf, pages } from "../support/doc-blocks.ts";

/** Programs and parts of programs; what a terminal shows; data. `published.test.ts` compiles the programs. */
const fences = [
  ["ts", "ts fragment", "ts declaration", "js", "js fragment"],
  ["console", "sh", "bash", "text"],
  ["json", "jsonc", "jsonl", "yaml", "toml"],
].flat();

const blocks: readonly Block[] = pages.flatMap(blocksOf);

test("every block of README and docs says what it is, and none is inside another", () => {
  expect(blocks.length).toBeGreaterThan(500);
  expect(blocks.filter(({ fence }) => !fences.includes(fence)).map(({ at, fence }) => `${at} ${fence}`)).toEqual([]);
});

test("only the API reference has declarations, and few blocks are only parts of a program", () => {
  const of = (fence: RegExp): readonly Block[] => blocks.filter((block) => fence.test(block.fence));
  expect(of(/ declaration$/).filter(({ at }) => !at.startsWith("docs/api/"))).toEqual([]);
  expect(of(/ fragment$/).length).toBeLessThan(of(/^(?:ts|js)$/).length);
});

test("no program needs a newer Node than 20.19, or a build step", () => {
  const isNew = /\b(?:await )?using \w+ =|\bPromise[.](?:try|withResolvers)\b|\bimport .* with \{/;
  expect(blocks.filter(({ fence, code }) => /^(?:ts|js)\b/.test(fence) && isNew.test(code))).toEqual([]);
});
