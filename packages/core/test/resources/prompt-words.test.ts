import { expect, test } from "vitest";
import { nearResources } from "../../src/resources/describe-resources.ts";
import { readPromptCall, serversNamedBy, splitWords } from "../../src/resources/prompt-arguments.ts";
import { toPromptInput } from "../../src/resources/prompt-messages.ts";
import { DiscoveredMCPPrompt } from "../../src/server/discovered-prompt.ts";
import { PromptRegistry } from "../../src/server/registries.ts";

test.each<[string, readonly (readonly [text: string, plain: number])[]]>([
  ["", []],
  ["  ", []],
  [
    "a  b",
    [
      ["a", 1],
      ["b", 1],
    ],
  ],
  [
    '"a b" c',
    [
      ["a b", 0],
      ["c", 1],
    ],
  ],
  ['x="a b"', [["x=a b", 2]]],
  ["x='a\"b'", [['x=a"b', 2]]],
  ['"a\\"b"', [['a"b', 0]]],
  ['"a\\\\b"', [["a\\b", 0]]],
  ['"a\\\'b"', [["a\\'b", 0]]],
  ["'a\\\"b'", [['a\\"b', 0]]],
  ["'a\\'b'", [["a'b", 0]]],
  ["it's", [["it's", 4]]],
  ['"open', [['"open', 5]]],
  ["a\\ b", [["a b", 1]]],
  ["\\--x", [["--x", 0]]],
  ["a\\=b", [["a=b", 1]]],
  ["a\\n", [["a\\n", 3]]],
  ["a\\", [["a\\", 2]]],
])("the typed line %j has the words %j", (line, words) => {
  expect(splitWords(line).map(({ text, plain }) => [text, plain])).toEqual(words);
});

const prompts = new PromptRegistry();
prompts.registerPrompt(
  new DiscoveredMCPPrompt({
    serverName: "s",
    serverPromptName: "tie",
    arguments: [
      { name: "knot", required: true },
      { name: "rope", required: true },
      { name: "hint", required: false },
    ],
    get: async () => ({ messages: [], notes: [] }),
  }),
);

const valuesOf = (typed: string): unknown => readPromptCall(`/tie ${typed}`, prompts)?.args;

test.each([
  ["bow line", { knot: "bow", rope: "line" }],
  ["--knot=a --rope=b", { knot: "a", rope: "b" }],
  ["--knot a --rope b --hint c", { knot: "a", rope: "b", hint: "c" }],
  ["rope=b a", { knot: "a", rope: "b" }],
  ["knot=x=y b", { knot: "x=y", rope: "b" }],
  ["-- --knot=a --rope", { knot: "--knot=a", rope: "--rope" }],
  ['"--" a', { knot: "--", rope: "a" }],
  ["=a b", { knot: "=a", rope: "b" }],
  ["\\--knot a", { knot: "--knot", rope: "a" }],
  ['knot\\=a "rope=b"', { knot: "knot=a", rope: "rope=b" }],
  ["1+1=2 b", { knot: "1+1=2", rope: "b" }],
  ["knot=a b c", { knot: "a", rope: "b c" }],
])("the user gives the arguments of a prompt as %s", (typed, values) => {
  expect(valuesOf(typed)).toEqual(values);
});

test.each([
  ["a", "rope is missing"],
  ["", "knot, rope are missing"],
  ["a b c", "there are 3 words for 2 arguments; put quotes around a value with spaces"],
  ["--knot=a knot=b c", "knot is given twice"],
  ["--knto=a", "there is no argument knto (did you mean knot?)"],
  ["--zzzzzz a", "there is no argument zzzzzz"],
  ["a --rope", "rope has no value"],
  ["--knot=a --rope=b --hint=c d", "the prompt takes no further arguments"],
])("the user reads why the arguments %j do not fit, and how to write them", (typed, reason) => {
  expect(() => valuesOf(typed)).toThrow(
    expect.objectContaining({
      code: "arguments_invalid",
      message: `prompt tie of "s": ${reason}`,
      next: "/tie --knot=… --rope=… [--hint=…]",
    }),
  );
});

test("a typed text may name each server whose name is its first part", () => {
  const servers = ["a", "a.b", "ab"];
  expect(serversNamedBy("a.b.c", servers)).toEqual(["a", "a.b"]);
  expect(serversNamedBy("a:x", servers)).toEqual(["a"]);
  expect(serversNamedBy("ab:x.a", servers)).toEqual(["ab"]);
  expect(serversNamedBy("x.a.", servers)).toEqual([]);
  expect(serversNamedBy("a", servers)).toEqual([]);
});

test("the user's last message of a prompt is the input; after an assistant's message the model goes on", () => {
  const user = { role: "user" as const, parts: [{ text: "u" }] };
  const assistant = { role: "assistant" as const, parts: [{ text: "a" }] };
  const model = { role: "model", parts: [{ text: "a" }] };
  expect(toPromptInput([user, assistant, user])).toEqual({ before: [user, model], parts: [{ text: "u" }] });
  expect(toPromptInput([user, assistant])).toEqual({ before: [user, model], parts: [{ text: "Go on from there." }] });
  expect(toPromptInput([])).toEqual({ before: [], parts: [{ text: "Go on from there." }] });
});

const resource = (uri: string, name = "n") => ({ uri, name, serverName: "s" });

test("similar resources are found among 2000 URIs of up to 300 characters; a part of two letters finds none", () => {
  const near = (wanted: string, uris: readonly string[]) =>
    nearResources(
      wanted,
      uris.map((uri) => resource(uri)),
    ).map(({ uri }) => uri);
  const long = (length: number): string => `f:///${"x".repeat(length - 9)}.abc`;
  expect([long(300).length, near("q:///.abc", [long(300), long(301)])]).toEqual([300, [long(300)]]);
  expect(near("q:///zzzabc", ["f:///1-zzzabc-2", "f:///2-zzzabc"])).toEqual(["f:///2-zzzabc", "f:///1-zzzabc-2"]);
  expect(near("q:///abc", ["f:///1/x-abc-x", "f:///2/y-ABC-y"])).toEqual(["f:///1/x-abc-x", "f:///2/y-ABC-y"]);
  expect(near("q:///ab", ["f:///1/x-ab-x"])).toEqual([]);
  expect(
    near(
      "q:///abc",
      ["1", "2", "3", "4"].map((at) => `f:///${at}/xx-abc-xx`),
    ),
  ).toHaveLength(3);
  const many = Array.from({ length: 2_000 }, (_, at) => `f:///${at}`);
  expect(near("q:///needle", [...many.slice(1), "f:///x-needle-x"])).toEqual(["f:///x-needle-x"]);
  expect(near("q:///needle", [...many, "f:///x-needle-x"])).toEqual([]);
});
