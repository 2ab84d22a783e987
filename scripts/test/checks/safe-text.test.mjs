import { expect, test } from "vitest";
import { checkSafeText } from "../../checks/safe-text.mjs";
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

const maker = 'import { safe, toSafeText } from "../text/safe-text.ts";\n';

test.each([
  ["the result of a function", `${maker}"x" as ReturnType<typeof toSafeText>;`],
  ["the result of a function with another name", 'import { toSafeText as a } from "x";\n"x" as ReturnType<typeof a>;'],
  ["the result of a function type", "type Show = () => string;\n'x' as ReturnType<Show>;"],
  ["a parameter of a function", "'x' as Parameters<typeof print>[0];"],
  ["the type of a value", `${maker}const a = safe\`x\`;\n"y" as typeof a;`],
])("a cast to %s is found", async (_, content) => {
  expect(await found("core/src/host/a.ts", content)).toEqual([
    "packages/core/src/host/a.ts: a cast to a type that is derived from a value; use the functions of core's text/safe-text.ts",
  ]);
});

test.each([
  ["an alias", `${given}type Mine = SafeText;`],
  ["an exported alias", `${given}export type Mine = SafeText | undefined;`],
  ["an alias for a list", `${given}type Mine = readonly SafeText[];`],
  ["an alias for the result of a function", `${maker}type Mine = ReturnType<typeof toSafeText>;`],
  ["an export under another name", `${given}export type { SafeText as Mine };`],
  ["another file's export under another name", 'export type { SafeText as Mine } from "@fairlead/core/text";'],
])("another name for the type is found: %s", async (_, content) => {
  expect(await found("core/src/host/a.ts", content)).toEqual([
    "packages/core/src/host/a.ts: another name for SafeText; use the functions of core's text/safe-text.ts",
  ]);
});

test("types that contain the type, and types of other values, are free", async () => {
  const content = `${given}${maker}export type Show = (text: string) => SafeText;
export type Row = { readonly label: SafeText };
export type { SafeText };
type Group = (typeof groups)[number];
type Request = ReturnType<typeof toRequest>;
export const key = "x" as keyof typeof codes;`;
  expect(await found("core/src/host/a.ts", content)).toEqual([]);
});

test("a cast in JSX is found", async () => {
  const view = `${given}export const view = <p>{"x" as SafeText}</p>;`;
  expect(await found("cli/src/a.tsx", view)).toHaveLength(1);
});

test("text/ may cast, and others may use the type", async () => {
  expect(await found("core/src/text/a.ts", `${given}export const a = "x" as SafeText;`)).toEqual([]);
  expect(await found("cli/src/a.ts", `${given}export const a = (b: SafeText): SafeText => b;`)).toEqual([]);
});
