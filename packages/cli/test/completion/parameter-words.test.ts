import { describe, expect, test } from "vitest";
import type { CompletionAnswer } from "../../src/completion/answer.ts";
import { suggestParameters } from "../../src/completion/from-servers.ts";

const schema = {
  properties: {
    text: { type: "string", description: "Some text.\nMore." },
    on: { type: "boolean" },
    level: { enum: ["low", 2, null, { a: 1 }, "@file"] },
    tags: { type: "array", items: { enum: ["x", "y"] } },
    either: { anyOf: [{ type: "boolean" }, { const: "maybe" }, { const: true }] },
    "a=b": { type: "string" },
    "colon:": { type: "string" },
  },
  required: ["on"],
};

/** The suggested words, each with its description if it has one. */
function words(answer: CompletionAnswer): unknown {
  if (answer.kind !== "words") return answer;
  return answer.candidates.map(({ value, about, isOpen }) => (isOpen ? [value, about] : value));
}

const at = (current: string, ...given: readonly string[]): unknown => words(suggestParameters(schema, given, current));

describe("Tab suggests", () => {
  test("the parameters that can be typed, the required ones first, with their types", () => {
    expect(at("")).toEqual([
      ["on=", "boolean, required"],
      ["text=", "string, Some text."],
      ["level=", expect.stringMatching(/^"low" \| 2 \| null/)],
      ["tags=", expect.stringMatching(/\[\]$/)],
      ["either=", expect.stringContaining('"maybe"')],
    ]);
    expect(at("te")).toEqual(at(""));
  });

  test("no parameter a second time, unless it is a list", () => {
    const names = (at("", "on=true", "text:=1", "tags=x", "levels=1") as [string, string][]).map(([name]) => name);
    expect(names).toEqual(["level=", "tags=", "either="]);
  });

  test.each<[current: string, values: unknown]>([
    ["on=", ["on=true", "on=false"]],
    ["on:=", ["on:=true", "on:=false"]],
    ["on=t", ["on=true", "on=false"]],
    ["level=", ["level=low", "level=2", "level=null"]],
    ["level:=", ['level:="low"', "level:=2", "level:=null", 'level:={"a":1}', 'level:="@file"']],
    ["tags=", ["tags=x", "tags=y"]],
    ["either=", ["either=true", "either=false", "either=maybe"]],
    ["text=", []],
    ["unknown=", []],
    ["text=@a/b", { kind: "files", prefix: "text=@" }],
    ["text:=@", { kind: "files", prefix: "text:=@" }],
    ["text=a@", []],
  ])("the values of %s", (current, values) => {
    expect(at(current)).toEqual(values);
  });

  test("at most 500 values", () => {
    const many = { properties: { n: { enum: Array.from({ length: 501 }, (_, value) => value) } } };
    const all = words(suggestParameters(many, [], "n=")) as string[];
    expect([all.length, all[0], all.at(-1)]).toEqual([500, "n=0", "n=499"]);
  });
});
