import { expect, test } from "vitest";
import {
  type CheckedResult,
  compareResult,
  differences,
  resultText,
  schemaProblems,
} from "../../src/checks/compare-result.ts";
import { compilePattern } from "../../src/checks/masks.ts";

const result = (text: string, more: Partial<CheckedResult> = {}): CheckedResult => ({
  content: [{ type: "text", text }],
  isError: false,
  ...more,
});

test("the text of a result is its text blocks, one per line", () => {
  const content = [
    { type: "text" as const, text: "one" },
    { type: "image" as const, data: "AAAA", mimeType: "image/png" },
    { type: "text" as const, text: "two" },
  ];
  expect(resultText({ content })).toBe("one\ntwo");
});

test("each difference is one sentence, in the order of the expectations", () => {
  const matches = compilePattern("^n\\d");
  if (typeof matches === "string") expect.fail(matches);
  const expected = { text: "yes", contains: ["no", "a", "b"], matches, structured: { size: 1 }, isError: true };
  expect(compareResult(result("no"), expected)).toEqual([
    "the call succeeded, but an error was expected",
    'the text is "no", expected "yes"',
    'the text does not contain "a": "no"',
    'the text does not contain "b": "no"',
    'the text does not match ^n\\d: "no"',
    'structured is nothing, expected {"size":1}',
  ]);
  expect(compareResult(result("n1"), { text: "n1", contains: ["n"], matches })).toEqual([]);
  expect(compareResult(result("n1", { isError: true }), { isError: true })).toEqual([]);
  expect(compareResult(result("n1", { isError: true }), { text: "n1" })).toEqual(["the call failed: n1"]);
});

test("structured content may have further members, but lists have the same length", () => {
  const structuredContent = { size: 3, tags: ["x", "y"], owner: { name: "Ada", id: 1 } };
  const compared = (structured: unknown) => compareResult(result("{}", { structuredContent }), { structured });
  expect(compared({ tags: ["x", "y"], owner: { id: 1 } })).toEqual([]);
  expect(compared({ size: 4, tags: ["z", "y"], owner: { name: "Bob", at: { x: 1 } }, toString: 1 })).toEqual([
    "structured.size is 3, expected 4",
    'structured.tags[0] is "x", expected "z"',
    'structured.owner.name is "Ada", expected "Bob"',
    'structured.owner.at is missing, expected {"x":1}',
    "structured.toString is missing, expected 1",
  ]);
  expect(compareResult(result('{"tags":"xy"}'), { structured: { tags: ["x", "y"] } })).toEqual([
    'structured.tags is "xy", expected ["x","y"]',
  ]);
  expect(compared({ tags: ["x"] })).toEqual(['structured.tags is ["x","y"], expected ["x"]']);
  expect(compared({ tags: { 0: "x" } })).toEqual(['structured.tags is ["x","y"], expected {"0":"x"}']);
  expect(compared({ owner: ["Ada"] })).toEqual(['structured.owner is {"id":1,"name":"Ada"}, expected ["Ada"]']);
  expect(compared(undefined)).toEqual([expect.stringMatching(/^structured is \{.*\}, expected nothing$/)]);
});

test("without structured content, the text is read as JSON", () => {
  expect(compareResult(result('{"size": 3}'), { structured: { size: 3 } })).toEqual([]);
  expect(compareResult(result("size 3"), { structured: { size: 3 } })).toEqual([
    'structured is nothing, expected {"size":3}',
  ]);
});

test("the problems of a schema come before its warnings; without any, there is no problem", async () => {
  const problems = (issues: readonly { path: string; message: string }[], warnings: readonly string[]) =>
    schemaProblems({}, result("{}"), { validate: async () => ({ issues, warnings }) } as never);
  expect(await problems([], [])).toEqual([]);
  expect(await problems([], ["careful"])).toEqual(["careful"]);
  expect(await schemaProblems({}, result("no"), { validate: async () => ({ issues: [], warnings: [] }) })).toEqual([
    "the result has no structured content, and its text is not JSON",
  ]);
});

test("a value is compared with its snapshot member by member; members may not be added or removed", () => {
  const before = { same: 1, list: [1, 2], gone: "a", other: { x: 1 } };
  const now = { same: 1, list: [1, 3], other: [1], added: true };
  expect(differences("result", before, now)).toEqual([
    "result.list[1] is 3, in the snapshot 2",
    'result.gone is nothing, in the snapshot "a"',
    'result.other is [1], in the snapshot {"x":1}',
    "result.added is true, in the snapshot nothing",
  ]);
  expect(differences("result", before, { ...before })).toEqual([]);
  expect(differences("result", [1, 2], [1])).toEqual(["result is [1], in the snapshot [1,2]"]);
  expect(differences("result", "ab", ["a", "b"])).toEqual(['result is ["a","b"], in the snapshot "ab"']);
  expect(differences("result", [1], { 0: 1 })).toEqual(['result is {"0":1}, in the snapshot [1]']);
});

test("a text of up to 300 characters is shown whole; a longer one from 60 characters before the difference", () => {
  // With its quotation marks, such a text has two characters more.
  const whole = "x".repeat(297);
  expect(differences("r", `${whole}1`, `${whole}2`)).toEqual([`r is "${whole}2", in the snapshot "${whole}1"`]);
  const long = "x".repeat(298);
  const end = "x".repeat(60);
  expect(differences("r", `${long}1`, `${long}2`)).toEqual([`r is …${end}2", in the snapshot …${end}1"`]);
  expect(differences("r", "1", `1${long}`)).toEqual([`r is "1${"x".repeat(297)}…, in the snapshot "1"`]);
  expect(differences("r", "y".repeat(100), "y".repeat(400))).toEqual([
    `r is …${"y".repeat(299)}…, in the snapshot …${"y".repeat(60)}"`,
  ]);
  // Equal up to its end, the shorter text is shown by its last characters only.
  const shorter = "y".repeat(400);
  expect(differences("r", `${shorter}${shorter}`, shorter)).toEqual([
    `r is …${"y".repeat(60)}", in the snapshot …${"y".repeat(299)}…`,
  ]);
});

test("quoted texts are cut after 300 characters", () => {
  const long = "x".repeat(400);
  expect(compareResult(result(long), { contains: [`a${long}`] })).toEqual([
    `the text does not contain "a${"x".repeat(297)}…: "${"x".repeat(298)}…`,
  ]);
  expect(compareResult(result(long, { isError: true }), {})).toEqual([`the call failed: ${"x".repeat(299)}…`]);
});
