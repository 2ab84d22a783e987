/** The README's figures. Each is on a page that the benchmark or the conformance run writes, or can be counted here. */

import { readFileSync } from "node:fs";
import { errorCodes } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import { clientNames } from "../../src/clients/client.ts";

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
const readme = read("README.md");

const parts = new Map([
  [4, "a quarter"],
  [7, "a seventh"],
  [8, "an eighth"],
  [9, "a ninth"],
  [10, "a tenth"],
]);

/** Numerals of the READMEs, in English and in Chinese. */
const numerals = new Map([
  [19, ["nineteen", "十九"]],
  [20, ["twenty", "二十"]],
  [21, ["twenty-one", "二十一"]],
  [22, ["twenty-two", "二十二"]],
]);

/** A row of bench/results/README.md: Fairlead's figure, and the multiples of the floor. */
function measured(row: string) {
  const line = read("bench/results/README.md")
    .split("\n")
    .find((each) => each.startsWith(`| ${row} |`));
  const [own = 0, ratio = 0, , , sdk = 0, , mcporter = 0] = (line ?? "").split("|").slice(3).map(Number.parseFloat);
  /** Fairlead's part of another client's cost, in words. */
  const partOf = (other: number): string => parts.get(Math.round(other / ratio)) ?? `1/${other / ratio}`;
  return { own, partOf, sdk, mcporter };
}

test("the README's times are those of the benchmark", () => {
  const [library, result, frame] = ["import of the library", "10 MB result, stdio", "first frame of the app"].map(
    measured,
  );
  expect(readme).toContain(
    `The library loads in ${library?.own.toFixed(0)} ms, ${library?.partOf(library.mcporter)} of the time of mcporter's, and reads a 10 MB result with ${result?.partOf(result.sdk)} of the official SDK's CPU time.`,
  );
  expect(readme).toContain(
    `The first screen is there after ${parts.get(Math.round(1000 / (frame?.own ?? 0)))} of a second.`,
  );
});

test("the README's scenarios are those of the conformance run through the gateway", () => {
  const page = read("docs/conformance.md");
  const passed = [...page.matchAll(/^\| gateway (?:0[.]1[.]16|2025-11-25|2026-07-28) \| (\d+ of \d+) \|/gm)].map(
    ([, scenarios]) => scenarios,
  );
  expect(passed).toHaveLength(3);
  expect(readme).toContain(`${passed.slice(0, 2).join(", ")} and ${passed[2]} scenarios`);
});

test("the README counts the errors and the programs that connect knows", () => {
  expect(readme).toContain(`${errorCodes.length} kinds of errors`);
  const [words, chinese] = numerals.get(clientNames.length) ?? ["?", "?"];
  expect(readme).toContain(`yes: ${words} programs, one command`);
  const readmeInChinese = read("README.zh-CN.md");
  expect(readmeInChinese).toContain(`可以：${chinese}种程序`);
  expect(readmeInChinese).toContain(`等${chinese}个程序中使用你的服务器`);
});

test("both READMEs have the same figures", () => {
  const figures = (text: string): readonly string[] =>
    [...text.matchAll(/\d+(?:[.]\d+)*/g)].map(([figure]) => figure).sort();
  expect(figures(read("README.zh-CN.md"))).toEqual(figures(readme));
});
