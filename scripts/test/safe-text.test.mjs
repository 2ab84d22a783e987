import { expect, test } from "vitest";
import { checkSafeText } from "../safe-text.mjs";
import { planted } from "./planted.mjs";

const found = async (path, content) =>
  (await planted({ [path]: content }, (folder) => checkSafeText(folder))).violations;
const given = 'import type { SafeText } from "@fairlead/core/text/safe-text";\n';

test.each([
  ["a cast", `${given}export const a = "x" as SafeText;`],
  ["a cast to a list", `${given}export const a = "x".split("") as readonly SafeText[];`],
  ["a cast in two steps", `${given}export const a = 1 as unknown as SafeText;`],
  ["a cast in angle brackets", `${given}export const a = <SafeText>"x";`],
  ["a guard", `${given}export const is = (text: string): text is SafeText => text !== "";`],
  ["a cast under another name", 'import type { SafeText as T } from "@fairlead/core/text/safe-text";\n"x" as T;'],
])("%s is found", async (_, content) => {
  expect(await found("cli/src/a.ts", content)).toEqual([expect.stringContaining("packages/cli/src/a.ts: a cast")]);
});

test("a cast in JSX is found", async () => {
  const view = `${given}export const view = <p>{"x" as SafeText}</p>;`;
  expect(await found("cli/src/a.tsx", view)).toHaveLength(1);
});

test("text/ may cast, and others may use the type", async () => {
  expect(await found("core/src/text/a.ts", `${given}export const a = "x" as SafeText;`)).toEqual([]);
  expect(await found("cli/src/a.ts", `${given}export const a = (b: SafeText): SafeText => b;`)).toEqual([]);
});
