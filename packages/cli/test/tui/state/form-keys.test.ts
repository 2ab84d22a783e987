import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import { type FormState, formKey, formValues, moveFocus, openForm } from "../../../src/tui/state/form.ts";
import type { FieldEntry } from "../../../src/tui/state/form-value.ts";

const typed = (text: string): Key => ({ name: "text", text });
const space = typed(" ");

const form = (properties: object, required: readonly string[] = []): FormState =>
  openForm({ type: "object", properties, required });

/** The state after these keys; none of them may be an answer. */
function after(state: FormState, ...keys: readonly Key[]): FormState {
  return keys.reduce((now, key) => {
    const step = formKey(now, key);
    if ("answer" in step) throw new Error(`answered with ${JSON.stringify(step.answer)}`);
    return step.state;
  }, state);
}

describe("the user looks around with Page Up and Page Down", () => {
  const state = form({ a: { type: "string" }, b: { type: "string" } });
  const pageUp: Key = { name: "pageup" };
  const pageDown: Key = { name: "pagedown" };

  test.each<[keys: readonly Key[], look: number]>([
    [[], 0],
    [[pageDown], 5],
    [[pageDown, pageDown], 10],
    [[pageUp], -5],
    [[pageUp, pageUp, pageDown], -5],
    [[pageDown, { name: "down" }], 0],
    [[pageUp, typed("x")], 0],
    [[pageUp, { name: "home" }], 0],
  ])("%j: %d rows from the field", (keys, look) => {
    expect(after(state, ...keys).look).toBe(look);
  });

  test("and the focus and the input stay", () => {
    const filled = after(state, { name: "tab" }, typed("x"));
    expect(after(filled, pageDown)).toEqual({ ...filled, look: 5 });
    expect(after(filled, pageUp)).toEqual({ ...filled, look: -5 });
  });
});

test.each<[keys: readonly Key[], focus: FormState["focus"]]>([
  [[{ name: "tab" }], 1],
  [[{ name: "tab" }, { name: "tab", shift: true }], 0],
  [[{ name: "tab", shift: true }], "decline"],
  [
    [
      { name: "tab", shift: true },
      { name: "tab", shift: true },
    ],
    "send",
  ],
  [[{ name: "tab", shift: true }, { name: "tab" }], 0],
  [[{ name: "down" }], 1],
  [[{ name: "down", shift: true }], 1],
  [[{ name: "down" }, { name: "up" }], 0],
  [[{ name: "up" }], "decline"],
  [[{ name: "down" }, { name: "down" }, { name: "down" }, { name: "down" }], 0],
])("after %j the focus is at %j", (keys, focus) => {
  expect(after(form({ a: { type: "string" }, b: { type: "integer" } }), ...keys).focus).toBe(focus);
});

test("the focus goes from the last button to the first field, and back", () => {
  const state = form({ a: { type: "string" } });
  expect(moveFocus({ ...state, focus: "decline" }, 1).focus).toBe(0);
  expect(moveFocus(state, -1).focus).toBe("decline");
  const empty = form({});
  expect([moveFocus(empty, 1).focus, moveFocus(empty, -1).focus]).toEqual(["send", "send"]);
});

test("a typed text or a choice removes the problem of its own field only", () => {
  const properties = { a: { type: "string" }, b: { type: "integer" }, c: { enum: ["x", "y"] } };
  const state = form(properties, ["a", "b", "c"]);
  const refused = after({ ...state, focus: "send" }, { name: "enter" });
  expect(refused.problems).toEqual(
    new Map([
      [0, "is required"],
      [1, "is required"],
      [2, "is required"],
    ]),
  );
  expect([...after(refused, typed("x")).problems.keys()]).toEqual([1, 2]);
  expect([...after(refused, { name: "tab" }, typed("7")).problems.keys()]).toEqual([0, 2]);
  expect([...after({ ...refused, focus: 2 }, { name: "down" }).problems.keys()]).toEqual([0, 1]);
  expect([...after(refused, { name: "tab" }).problems.keys()]).toEqual([0, 1, 2]);
});

test("the values are sent in the order of the fields", () => {
  const state = form({
    b: { type: "string", default: "1" },
    a: { type: "string", default: "2" },
    c: { type: "boolean" },
    d: { type: "integer", default: 3 },
  });
  const found = formValues(state);
  expect(found.kind === "values" && Object.entries(found.values)).toEqual([
    ["b", "1"],
    ["a", "2"],
    ["d", 3],
  ]);
});

describe("a switch", () => {
  const on: FieldEntry = { kind: "switched", isOn: true };
  const off: FieldEntry = { kind: "switched", isOn: false };
  const open: FieldEntry = { kind: "switched" };

  test.each<[before: FieldEntry, key: Key, next: FieldEntry]>([
    [open, space, on],
    [on, space, off],
    [off, space, on],
    [open, { name: "left" }, on],
    [on, { name: "left" }, off],
    [off, { name: "right" }, on],
    [open, typed("y"), on],
    [off, typed("Y"), on],
    [off, typed("yes"), on],
    [open, typed("n"), off],
    [on, typed("no"), off],
    [on, typed("x"), on],
    [on, typed("nope"), on],
    [off, { name: "text", text: "y", ctrl: true }, off],
    [off, { name: "text", text: "y", meta: true }, off],
    [off, { name: "paste", text: "y" }, off],
    [on, { name: "paste", text: "n" }, on],
    [on, { name: "backspace" }, open],
    [off, { name: "delete" }, open],
    [on, { name: "home" }, on],
    [off, { name: "end" }, off],
  ])("%j becomes after %j", (before, key, next) => {
    const state = { ...form({ field: { type: "boolean" } }), entries: [before] };
    expect(after(state, key).entries).toEqual([next]);
  });
});

describe("a choice", () => {
  const titles = ["large", "a", "little", "ab", "long"];
  const chosen = (at?: number): FieldEntry => ({ kind: "chosen", ...(at !== undefined && { at }) });

  test.each<[before: number | undefined, key: Key, next: number | undefined]>([
    [undefined, { name: "right" }, 0],
    [undefined, space, 0],
    [undefined, { name: "left" }, 4],
    [0, { name: "right" }, 1],
    [0, { name: "left" }, 4],
    [4, { name: "right" }, 0],
    [4, { name: "left" }, 3],
    [undefined, { name: "down" }, 0],
    [undefined, { name: "up" }, 4],
    [0, { name: "up" }, 0],
    [4, { name: "down" }, 4],
    [2, { name: "down" }, 3],
    [2, { name: "up" }, 1],
    [undefined, typed("l"), 0],
    [0, typed("l"), 2],
    [2, typed("L"), 4],
    [4, typed("l"), 0],
    [1, typed("li"), 2],
    // A title that is typed whole comes before longer ones.
    [undefined, typed("a"), 1],
    [3, typed("a"), 1],
    [1, typed("a"), 3],
    [3, typed("ab"), 3],
    [0, typed("LONG"), 4],
    [2, typed("x"), 2],
    [undefined, typed("x"), undefined],
    [2, { name: "home" }, 2],
    [undefined, { name: "home" }, undefined],
    [2, { name: "text", text: "l", ctrl: true }, 2],
    [2, { name: "text", text: "l", meta: true }, 2],
    [2, { name: "paste", text: "l" }, 2],
    [2, { name: "backspace" }, undefined],
    [2, { name: "delete" }, undefined],
  ])("number %j becomes after %j", (before, key, next) => {
    const state = { ...form({ field: { enum: titles } }), entries: [chosen(before)] };
    expect(after(state, key).entries).toEqual([chosen(next)]);
  });
});

describe("several choices", () => {
  const several = (at: number, chosen: readonly number[], isTouched = false): FieldEntry => ({
    kind: "several",
    chosen: new Set(chosen),
    at,
    isTouched,
  });

  test.each<[before: FieldEntry, key: Key, next: FieldEntry]>([
    [several(0, []), space, several(0, [0], true)],
    [several(1, [0]), space, several(1, [0, 1], true)],
    [several(1, [0, 1], true), space, several(1, [0], true)],
    [several(0, [2]), { name: "right" }, several(1, [2])],
    [several(0, [2]), { name: "left" }, several(2, [2])],
    [several(2, [2]), { name: "right" }, several(0, [2])],
    [several(2, []), { name: "down" }, several(2, [])],
    [several(0, []), { name: "down" }, several(1, [])],
    [several(0, []), { name: "up" }, several(0, [])],
    [several(2, []), { name: "up" }, several(1, [])],
    [several(0, [1], true), typed("c"), several(2, [1], true)],
    [several(1, [1]), typed("x"), several(1, [1])],
    [several(1, [1]), { name: "backspace" }, several(1, [1])],
    [several(1, [1]), { name: "home" }, several(1, [1])],
  ])("%j become after %j", (before, key, next) => {
    const state = { ...form({ field: { type: "array", items: { enum: ["a", "b", "c"] } } }), entries: [before] };
    expect(after(state, key).entries).toEqual([next]);
  });
});

test.each<[schema: object, value: unknown, entry: FieldEntry]>([
  [{ type: "boolean" }, true, { kind: "switched", isOn: true }],
  [{ type: "boolean" }, "true", { kind: "switched" }],
  [{ enum: ["a", "b", "b"] }, "b", { kind: "chosen", at: 1 }],
  [{ enum: [{ x: 1 }, [2]] }, [2], { kind: "chosen", at: 1 }],
  [{ enum: ["1"] }, 1, { kind: "chosen" }],
  [{ enum: ["a"] }, undefined, { kind: "chosen" }],
  [
    { type: "array", items: { enum: ["a", "b", "c"] } },
    ["c", "x", "a"],
    { kind: "several", chosen: new Set([2, 0]), at: 0, isTouched: false },
  ],
  [{ type: "array", items: { enum: ["a"] } }, "a", { kind: "several", chosen: new Set(), at: 0, isTouched: false }],
])("a field of %j begins with %j as %j", (schema, value, entry) => {
  expect(openForm({ properties: { field: schema } }, { field: value }).entries).toEqual([entry]);
});

test.each<[value: unknown, text: string]>([
  ["a b", "a b"],
  [7, "7"],
  [{ a: [1] }, '{"a":[1]}'],
  [undefined, ""],
])("a typed field begins with the value %j as %j", (value, text) => {
  const { entries } = openForm({ properties: { field: { type: ["string", "number"] } } }, { field: value });
  expect(entries).toMatchObject([{ kind: "typed", editor: { text, cursor: text.length } }]);
});

test.each<[focus: FormState["focus"], name: "left" | "right" | "home", next: FormState["focus"]]>([
  ["send", "left", "decline"],
  ["send", "right", "decline"],
  ["decline", "left", "send"],
  ["decline", "right", "send"],
  ["send", "home", "send"],
  ["decline", "home", "decline"],
])("on the button %s, the key %s moves to %s and changes nothing else", (focus, name, next) => {
  const state = { ...form({ a: { type: "string" } }), focus };
  expect(formKey(state, { name })).toEqual({ state: { ...state, focus: next } });
});
