import { describe, expect, test } from "vitest";
import {
  anyObject,
  emptyObject,
  intersectionOf,
  isUnknown,
  type KeywordType,
  literalsOf,
  mapOf,
  neverType,
  objectOfMembers,
  type TypeText,
  toOperand,
  toText,
  unionOf,
  unknownType,
} from "../../src/generate/type-declarations.ts";

const bare = (...alternatives: readonly string[]): TypeText => ({ alternatives, isBare: true });
const type = (...alternatives: readonly string[]): TypeText => ({ alternatives });
const counted = (of: TypeText, count = 1): KeywordType => ({ type: of, count: () => count });

test("a union is on one line of at most 100 characters, otherwise each alternative has a line", () => {
  const [a, b] = ["a".repeat(48), "b".repeat(49)];
  expect(toText(type(a, b))).toBe(`${a} | ${b}`);
  expect(toText(type(a, `${b}b`))).toBe(`\n  | ${a}\n  | ${b}b`);
  expect(toText(type("a".repeat(101)))).toBe("a".repeat(101));
  expect(toText(type("{\n  a: 1;\n}", "b".repeat(100)))).toBe(`\n  | {\n    a: 1;\n  }\n  | ${"b".repeat(100)}`);
});

test("an operand has parentheses only if it needs them", () => {
  expect(toOperand(type("A"))).toBe("A");
  expect(toOperand(type("A", "B"))).toBe("(A | B)");
  expect(toOperand({ alternatives: ["A & B"], isIntersection: true })).toBe("(A & B)");
  const long = "a".repeat(100);
  expect(toOperand(type(long, "B"))).toBe(`(\n  | ${long}\n  | B\n)`);
});

describe("a union", () => {
  test.each<[types: readonly TypeText[], union: TypeText]>([
    [[type("A"), unknownType], unknownType],
    [[], neverType],
    [[bare("string")], bare("string")],
    [[neverType, neverType], neverType],
    [[type("A"), neverType, type("B", "A")], { alternatives: ["A", "B"], isBare: false }],
    [[bare("string"), bare("null")], { alternatives: ["string", "null"], isBare: true }],
    [[bare("string"), type("A")], { alternatives: ["string", "A"], isBare: false }],
  ])("of %j is %j", (types, union) => {
    expect(unionOf(types)).toMatchObject(union);
  });

  test("of an intersection and nothing else is the intersection", () => {
    const both: TypeText = { alternatives: ["{ a: 1 } & [1]"], isIntersection: true };
    expect(unionOf([both, neverType])).toMatchObject(both);
    expect(unionOf([both, both])).toMatchObject(both);
    expect(unionOf([both, type("B")]).isIntersection).toBe(false);
  });

  test("with any value among its alternatives accepts any value", () => {
    expect(isUnknown(type("A", "unknown"))).toBe(true);
    expect(isUnknown(type("A"))).toBe(false);
  });
});

describe("an intersection", () => {
  test.each<[what: string, types: readonly KeywordType[], text: string]>([
    ["of nothing", [], "unknown"],
    ["of any values", [counted(unknownType), counted(unknownType)], "unknown"],
    ["of a name only", [counted(unknownType), counted(bare("string"))], "string"],
    ["of a name and something narrower", [counted(bare("string")), counted(type('"a"'))], '"a"'],
    ["of equal types", [counted(type("A")), counted(type("A"))], "A"],
    ["of a union and another type", [counted(type("A", "B")), counted(type("C"))], "(A | B) & C"],
    ["of 128 combinations", [counted(type("A"), 64), counted(type("B"), 2)], "A & B"],
    ["of more combinations, without those", [counted(type("A"), 64), counted(type("B"), 3)], "A"],
    ["of one type that alone is too much", [counted(type("A"), 200), counted(type("B"), 1)], "A"],
    [
      "of types after one that was left out",
      [counted(type("A"), 64), counted(type("B"), 3), counted(type("C"), 2)],
      "A & C",
    ],
    ["with a type that counts as nothing", [counted(type("A"), 0), counted(type("B"), 128)], "A & B"],
  ])("%s", (_what, types, text) => {
    expect(toText(intersectionOf(types))).toBe(text);
  });

  test("says that it is one", () => {
    expect(intersectionOf([counted(type("A")), counted(type("B"))])).toEqual({
      alternatives: ["A & B"],
      isIntersection: true,
    });
  });
});

test("literals are a union of at most a thousand", () => {
  expect(literalsOf(["a", 1, null, "a"])).toMatchObject({ alternatives: ['"a"', "1", "null"], isBare: false });
  expect(literalsOf([])).toEqual(neverType);
  expect(literalsOf(["a", "x".repeat(3000)])).toBe(unknownType);
  const values = Array.from({ length: 1001 }, (_, at) => at);
  expect(literalsOf(values)).toBe(unknownType);
  expect(literalsOf(values.slice(1)).alternatives).toHaveLength(1000);
});

test("an object is on one line if it is short and has no comments", () => {
  expect(toText(objectOfMembers([["a: A;"], ["b: B;"]]))).toBe("{ a: A; b: B }");
  expect(toText(objectOfMembers([["/** Why. */", "a: A;"]]))).toBe("{\n  /** Why. */\n  a: A;\n}");
  expect(toText(objectOfMembers([["a: {\n  b: B;\n};"]]))).toBe("{\n  a: {\n    b: B;\n  };\n}");
  const name = "x".repeat(100 - "{ : A }".length);
  expect(toText(objectOfMembers([[`${name}: A;`]]))).toBe(`{ ${name}: A }`);
  expect(toText(objectOfMembers([[`${name}x: A;`]]))).toBe(`{\n  ${name}x: A;\n}`);
});

test("a map has the type of its values", () => {
  expect(mapOf(type("A", "B"))).toEqual({ alternatives: ["{ [key: string]: A | B }"] });
  expect(mapOf(unknownType)).toBe(anyObject);
  expect(toText(mapOf(neverType))).toBe(toText(emptyObject));
});
