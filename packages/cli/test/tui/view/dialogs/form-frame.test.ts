import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { type FormState, openForm } from "../../../../src/tui/state/form.ts";
import { focusedScroll } from "../../../../src/tui/view/dialogs/dialog-frame.ts";
import { formFrame } from "../../../../src/tui/view/dialogs/form-frame.ts";
import type { Frame } from "../../../../src/tui/view/frame.ts";
import type { Line, Span } from "../../../../src/tui/view/line.ts";

const textOf = (line: Line): string => line.map(({ text }) => text).join("");

interface Look extends Partial<FormState> {
  readonly width?: number;
  readonly purpose?: "elicitation" | "arguments";
}

function frame(properties: object, { width = 60, purpose = "elicitation", ...state }: Look = {}): Frame {
  const schema = { type: "object", properties } as JsonObject;
  const question = { key: "q", kind: "form", serverName: "s", message: "", schema, purpose } as const;
  return formFrame(question, { ...openForm(schema), ...state }, { width, height: 40 });
}

const linesOf = ({ body }: Frame): readonly Line[] => body.map((row) => ("line" in row ? row.line : row));
const rows = (properties: object, look: Look = {}): readonly string[] =>
  linesOf(frame(properties, look)).map((line) => textOf(line).trimEnd());
/** The rows of the only field, without the buttons. */
const fieldRows = (schema: object, look: Look = {}): readonly string[] => rows({ field: schema }, look).slice(0, -2);
/** The text of each row that has this style. */
const styled = (properties: object, style: keyof Span, look: Look = {}): readonly string[] =>
  linesOf(frame(properties, look)).flatMap((line) => {
    const text = textOf(line.filter((each) => each[style] !== undefined && each[style] !== false)).trim();
    return text === "" ? [] : text;
  });

const two = { a: { type: "string" }, b: { type: "string" } };

describe("the focus", () => {
  test.each<[FormState["focus"], readonly string[], from: number, to: number]>([
    [0, ["› a", "", "  b", "  (empty)", "  [ Send to the server ]", "  [ Decline ]"], 0, 2],
    [1, ["  a", "  (empty)", "› b", "", "  [ Send to the server ]", "  [ Decline ]"], 2, 4],
    ["send", ["  a", "  (empty)", "  b", "  (empty)", "› [ Send to the server ]", "  [ Decline ]"], 4, 5],
    ["decline", ["  a", "  (empty)", "  b", "  (empty)", "  [ Send to the server ]", "› [ Decline ]"], 5, 6],
  ])("is at %j", (focus, expected, from, to) => {
    expect(rows(two, { focus })).toEqual(expected);
    expect(frame(two, { focus }).focused).toEqual({ from, to });
  });

  test("is bold, and a button with the focus is inverse", () => {
    expect(styled(two, "isBold", { focus: 0 })).toEqual(["› a"]);
    expect(styled(two, "isBold", { focus: "send" })).toEqual(["› [ Send to the server ]"]);
    expect(styled(two, "isInverse", { focus: "decline" })).toEqual(["[ Decline ]"]);
  });

  test.each<[what: string, schema: object, focus: FormState["focus"], keys: string]>([
    ["text", { type: "string" }, 0, "↑↓ fields, Enter next, Esc cancel"],
    ["a switch", { type: "boolean" }, 0, "y/n yes or no, ↑↓ fields, Enter next, Esc cancel"],
    ["a choice", { enum: ["x"] }, 0, "↑↓ choose, Tab fields, Enter next, Esc cancel"],
    [
      "several choices",
      { type: "array", items: { enum: ["x"] } },
      0,
      "↑↓ move, Space mark, Tab fields, Enter next, Esc cancel",
    ],
    ["a button", { type: "string" }, "send", "↑↓ fields, Enter select, Esc cancel"],
  ])("on %s decides which keys are named", (_, schema, focus, keys) => {
    expect(frame({ a: schema }, { focus }).keys.map(textOf).join(", ")).toBe(keys);
  });

  test("stays on the screen, and the user can look elsewhere from there", () => {
    const at = (from: number, to: number, look: number): number =>
      focusedScroll({ ...frame(two), focused: { from, to } }, { rows: 30, page: 10 }, look);
    expect([at(0, 2, 0), at(12, 14, 0), at(12, 14, 5), at(12, 14, -5), at(0, 2, -5), at(28, 30, 5)]).toEqual([
      0, 4, 9, 0, 0, 20,
    ]);
    // A field that is larger than the screen is shown from its beginning.
    expect(at(5, 25, 0)).toBe(5);
  });
});

test("a form for arguments has other buttons", () => {
  expect(rows({}, { purpose: "arguments" })).toEqual(["  [ Run ]", "› [ Do not run ]"]);
});

test("fields that are left out are counted above the buttons", () => {
  expect(rows({ a: { type: "string" } }, { leftOut: 3, focus: "send" })).toEqual([
    "  a",
    "  (empty)",
    "3 more fields are not shown (limit: 200).",
    "› [ Send to the server ]",
    "  [ Decline ]",
  ]);
});

test("a problem is red, a secret is yellow, and a description and hints are dim", () => {
  const properties = { pin: { type: "string", description: "Four digits.", maxLength: 4 } };
  const look = { problems: new Map([[0, "is required"]]) };
  expect(fieldRows(properties.pin, look)).toEqual([
    "› field",
    "",
    "  ! is required",
    "  ▏ Four digits.",
    "  at most 4 characters",
  ]);
  expect(styled(properties, "colour", look)).toEqual([
    "! is required",
    "! asks for a secret: enter it only if this server may",
    "have it",
  ]);
  const colours = linesOf(frame(properties, look)).flatMap((line) => line.flatMap(({ colour }) => colour ?? []));
  expect([...new Set(colours)]).toEqual(["red", "yellow"]);
  expect(styled(properties, "isDim", look).join(" ")).toContain("Four digits.");
  expect(styled(properties, "isDim", look)).toContain("at most 4 characters");
  expect(rows(properties, { focus: "send" }).join()).not.toMatch(/digits|characters/);
});

test("a long description is broken inside the frame, and nothing is lost", () => {
  const shown = fieldRows({ type: "string", description: "Z".repeat(100) }, { width: 40 });
  expect(shown.join("").match(/Z/g)).toHaveLength(100);
  expect(shown.filter((row) => row.length > 38)).toEqual([]);
});

test.each<[isOn: boolean | undefined, row: string]>([
  [undefined, "  ( ) yes  ( ) no"],
  [true, "  (•) yes  ( ) no"],
  [false, "  ( ) yes  (•) no"],
])("a switch that is %j", (isOn, row) => {
  const entries = [{ kind: "switched", ...(isOn !== undefined && { isOn }) }] as const;
  expect(fieldRows({ type: "boolean" }, { entries })).toEqual(["› field", row]);
});

describe("choices", () => {
  const several = { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 };
  const entries = [{ kind: "several", chosen: new Set([0, 2]), at: 1, isTouched: true }] as const;

  test("are marked, and the row of the keys has a pointer", () => {
    expect(fieldRows(several, { entries })).toEqual([
      "› field",
      "    [x] a",
      "  > [ ] b",
      "    [x] c",
      "  1 to 2 choices",
    ]);
    expect(styled({ field: several }, "isBold", { entries })).toEqual(["› field", "> [ ]"]);
  });

  test("of a field without the focus are listed in one row", () => {
    expect(fieldRows(several, { entries, focus: "send" })).toEqual(["  field", "  a, c"]);
    expect(fieldRows(several, { focus: "send" })).toEqual(["  field", "  (nothing chosen)"]);
    expect(fieldRows({ enum: ["a", "b"], default: "b" }, { focus: "send" })).toEqual(["  field", "  b"]);
  });

  test.each<[count: number, at: number | undefined, first: number, hasCount: boolean]>([
    [9, undefined, 0, false],
    [9, 8, 0, false],
    [10, undefined, 0, true],
    [10, 9, 1, true],
    [30, 4, 0, true],
    [30, 5, 1, true],
    [30, 15, 11, true],
    [30, 29, 21, true],
  ])("of %d, with number %j chosen, are shown from number %d on", (count, at, first, hasCount) => {
    const titles = Array.from({ length: count }, (_, index) => `t${index}`);
    const chosen = [{ kind: "chosen", ...(at !== undefined && { at }) }] as const;
    expect(fieldRows({ enum: titles }, { entries: chosen })).toEqual([
      "› field",
      ...titles
        .slice(first, first + 9)
        .map((title, index) => (first + index === at ? `  > (•) ${title}` : `    ( ) ${title}`)),
      ...(hasCount ? [`  ${count} choices`] : []),
    ]);
  });

  test("that are wider than the screen go on below their beginning", () => {
    expect(fieldRows({ enum: ["y".repeat(40)] }, { width: 40 })).toEqual([
      "› field",
      `    ( ) ${"y".repeat(30)}`,
      `        ${"y".repeat(10)}`,
    ]);
  });
});

test.each<[schema: object, hints: readonly string[]]>([
  [{ type: "string" }, []],
  [{ type: "string", format: "date", maxLength: 5 }, ["a date, like 2026-11-30"]],
  [{ type: "string", minLength: 2, maxLength: 5, default: "abc" }, ["2 to 5 characters", 'default: "abc"']],
  [{ type: "number", default: 3 }, ["a number", "default: 3"]],
  [{ type: "integer", minimum: 1 }, ["a whole number, at least 1"]],
  [{ type: "integer", maximum: 9 }, ["a whole number, at most 9"]],
  [{ type: "object", default: {} }, ["a value as JSON", "default: {}"]],
  [{ type: "boolean", default: true }, []],
  [{ enum: ["a"], default: "a" }, []],
  [{ type: "array", items: { enum: ["a"] }, default: ["a"] }, []],
  [{ type: "array", items: { enum: ["a"] }, maxItems: 1 }, ["at most 1 choices"]],
])("the hints of %j", (schema, hints) => {
  expect(fieldRows(schema).slice(2)).toEqual(hints.map((hint) => `  ${hint}`));
});

test.each<[purpose: "elicitation" | "arguments", toolName: string | undefined, title: string, heading: string]>([
  ["elicitation", undefined, "s asks you", "Message:"],
  ["elicitation", "t", "s asks you", "Message:"],
  ["arguments", undefined, "Arguments for s", "Tool:"],
  ["arguments", "t", "Arguments for s.t", "Tool:"],
])("a form for %s of the tool %s says what it is for", (purpose, toolName, title, heading) => {
  const question = {
    key: "q",
    kind: "form",
    serverName: "s",
    ...(toolName !== undefined && { toolName }),
    message: "words",
    schema: {},
    purpose,
  } as const;
  const shown = formFrame(question, openForm({}), { width: 60, height: 40 });
  expect(textOf(shown.title)).toBe(title);
  expect(shown.colour).toBe("cyan");
  expect(linesOf(shown).slice(0, 2).map(textOf)).toEqual([heading, "▏ words"]);
});

test("the number of choices is dim", () => {
  const titles = Array.from({ length: 10 }, (_, index) => `t${index}`);
  expect(styled({ field: { enum: titles } }, "isDim")).toEqual(["10 choices"]);
});

test("an entry of another kind than the field's input is not drawn", () => {
  expect(fieldRows({ type: "string" }, { entries: [{ kind: "chosen", at: 0 }] })).toEqual(["› field"]);
});
