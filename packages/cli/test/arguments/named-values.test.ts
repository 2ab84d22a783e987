import { HostError } from "@fairlead/core/errors";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { defineTimeoutOption } from "../../src/arguments/duration.ts";
import {
  defineArgOption,
  fillTemplate,
  type NamedValue,
  splitNamed,
  variablesOf,
} from "../../src/arguments/named-values.ts";

function errorOf(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return [error.code, error.message, error.next];
  }
}

describe("the user gives values", () => {
  test("with --arg, as often as needed, in the given order", () => {
    const command = new Command("x");
    defineArgOption(command, "a value");
    defineTimeoutOption(command);
    expect(command.options.map(({ flags, description }) => [flags, description])).toEqual([
      ["--arg <name=value>", "a value"],
      ["--timeout <time>", "give up after this time without a response or progress: 500ms, 10s, 2m"],
    ]);
    command.parse(["--arg", "a=1", "--arg", "b=", "--arg", "a=2=3"], { from: "user" });
    expect(command.opts()).toEqual({
      arg: [
        ["a", "1"],
        ["b", ""],
        ["a", "2=3"],
      ],
    });
    expect(errorOf(() => command.parse(["--arg", "word"], { from: "user" }))).toEqual([
      "usage",
      '--arg takes name=value, not "word"',
      undefined,
    ]);
  });

  test.each<[word: string, named: NamedValue | undefined]>([
    ["a=1", ["a", "1"]],
    ["ab=c d", ["ab", "c d"]],
    ["a=", ["a", ""]],
    ["a=b=c", ["a", "b=c"]],
    ["=1", undefined],
    ["a", undefined],
    ["", undefined],
    ["a b=1", undefined],
    ["a\t=1", undefined],
  ])("as %j", (word, named) => {
    expect(splitNamed(word)).toEqual(named);
  });
});

test.each<[template: string, variables: readonly (readonly [name: string, required: boolean])[]]>([
  ["x://a", []],
  [
    "x://{a}/{+b}",
    [
      ["a", true],
      ["b", true],
    ],
  ],
  [
    "x://{a}{?b,c}{&d}{#e}{/f}{.g}{;h}",
    [["a", true], ...["b", "c", "d", "e", "f", "g", "h"].map((name) => [name, false] as const)],
  ],
  ["x://{?a}/{a}", [["a", true]]],
  ["x://{a", []],
])("the variables of %s", (template, variables) => {
  expect(variablesOf(template)).toEqual(variables.map(([name, required]) => ({ name, required })));
});

test.each<[template: string, given: readonly NamedValue[], expected: unknown]>([
  [
    "x://{a}/{b}",
    [
      ["a", "1 2"],
      ["b", "3"],
    ],
    "x://1%202/3",
  ],
  ["x://{a}{?q}", [["a", "1"]], "x://1"],
  [
    "x://{a}",
    [
      ["a", "1"],
      ["a", "2"],
    ],
    "x://1,2",
  ],
  [
    "x://{?q*}",
    [
      ["q", "1"],
      ["q", "2"],
    ],
    "x://?q=1&q=2",
  ],
  ["x://a", [], "x://a"],
  [
    "x://{name}/{b}{?c}",
    [["nam", "1"]],
    [
      "arguments_invalid",
      'x://{name}/{b}{?c} has no variable "nam"; did you mean "name"?',
      "fairlead read 'x://{name}/{b}{?c}' --arg name=… --arg b=… [--arg c=…]",
    ],
  ],
  [
    "x://{a}/{b}",
    [],
    ["arguments_invalid", 'x://{a}/{b} needs "a", "b"', "fairlead read 'x://{a}/{b}' --arg a=… --arg b=…"],
  ],
  ["x://{a}", [["a", ".."]], ["usage", '"x://.." was not requested: it contains ".."', undefined]],
])("the URI of %s with %j", (template, given, expected) => {
  expect(errorOf(() => fillTemplate(template, given))).toEqual(expected);
});
