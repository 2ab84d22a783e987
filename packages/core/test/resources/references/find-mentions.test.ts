import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findMentions } from "../../../src/resources/references/find-mentions.ts";
import { anyCharacter } from "../../support/any-character.ts";

/** What is meant, in the order in which it is written. */
function targets(text: string): readonly string[] {
  return findMentions(text).flatMap((part) => (part.kind === "mention" ? [part.target] : []));
}

describe("a reference is found", () => {
  test.each<[string, readonly string[]]>([
    ["@demo://about", ["demo://about"]],
    ["@demo:file:///a.txt", ["demo:file:///a.txt"]],
    ["look at @demo://about and @src/a.ts please", ["demo://about", "src/a.ts"]],
    ["one\n@a://b\ttwo", ["a://b"]],
    ["Is it @demo://about?", ["demo://about"]],
    ["It is @demo://about.", ["demo://about"]],
    ["(see @demo://about), or [@x://y]!", ["demo://about", "x://y"]],
    ["@demo://search?q=a&b=c#d, then", ["demo://search?q=a&b=c#d"]],
    ["@x://f(1) and (@x://f(1))", ["x://f(1)", "x://f(1)"]],
    ["@x://knots/{name}.", ["x://knots/{name}"]],
    ["@a://1,@a://2;@a://3", ["a://1", "a://2", "a://3"]],
    ["@a://1,2", ["a://1,2"]],
    ["@src/a.ts's end", ["src/a.ts"]],
    ['"@demo://about"', ["demo://about"]],
    ["say '@demo://about' now", ["demo://about"]],
    ["@.github/workflows/ci.yml…", [".github/workflows/ci.yml"]],
    ["（@demo://about）を見て", ["demo://about"]],
    ["@demo://über", ["demo://über"]],
    ['@"my notes/a b.txt"', ["my notes/a b.txt"]],
    ["@'it is \"here\"' x", ['it is "here"']],
    [String.raw`@"a \"b\" \\ c"`, [String.raw`a "b" \ c`]],
    ['@"with, punctuation."', ["with, punctuation."]],
    [String.raw`@my\ notes/a\ b.txt next`, ["my notes/a b.txt"]],
    [String.raw`@what\?`, ["what?"]],
    [String.raw`@C:\folder\file.txt`, [String.raw`C:\folder\file.txt`]],
    ["@scope/pkg", ["scope/pkg"]],
    ["**@demo://about**", ["demo://about"]],
    ["**@demo://about**, then *@x://y*.", ["demo://about", "x://y"]],
    ["**see @demo://about.** and __@x://y__", ["demo://about", "x://y"]],
    ["**Note:**@demo://about", ["demo://about"]],
    ["_@src/a_b.ts_ and ~~@x://y~~", ["src/a_b.ts", "x://y"]],
    ["***@x://y***!", ["x://y"]],
    ["**bold** @src/**/*.ts", ["src/**/*.ts"]],
    ["**@src/**/a.ts**", ["src/**/a.ts"]],
    ["@src/_private_", ["src/_private_"]],
    ["* @src/a*", ["src/a*"]],
    ["请看@demo://about。", ["demo://about"]],
    ["请看@demo://about的内容", ["demo://about"]],
    ["@demo://aboutを見て", ["demo://about"]],
    ["資料@demo://aboutとsrc/a.ts", ["demo://about"]],
    ["참고@demo://about를 보세요", ["demo://about"]],
    ["終わり。@demo://about！", ["demo://about"]],
    ["「資料」@src/a.ts《@x://y》", ["src/a.ts", "x://y"]],
    ["**@demo://about**を見て", ["demo://about"]],
    ["@docs/設計.md @docs/設計 @demo://メモ", ["docs/設計.md", "docs/設計", "demo://メモ"]],
    ["@docs/v2設計.md", ["docs/v2設計.md"]],
    ["(@demo://about)を見て", ["demo://about"]],
    ["(@x://f(1))を見て", ["x://f(1)"]],
    ["@x://a[1] and [@x://a[1]]", ["x://a[1]", "x://a[1]"]],
    ["@a://b)).", ["a://b"]],
    [String.raw`@a.\.`, ["a.."]],
    ["**a**@b", ["b"]],
    ["***a***@b", ["b"]],
    ["@(x @a://b", ["a://b"]],
    ['@"x @a://b', ["a://b"]],
    ["``@x`` @y", ["y"]],
    ["`a` @x `b` @y", ["x", "y"]],
    ["``a`` ``@b`` @c", ["c"]],
    ["**x @a**b**", ["a**b"]],
    ["*x\n*@a*", ["a"]],
  ])("in %s", (text, expected) => {
    expect(targets(text)).toEqual(expected);
  });
});

describe("nothing is found", () => {
  test.each([
    "a@b.c",
    "first.last+tag@example.com",
    "<me@example.com>",
    "mailto:me@example.com",
    '"a b"@example.com',
    "git@github.com:owner/repo.git",
    "https://user:@host/path",
    "node_modules/@scope/pkg",
    "npm:@scope/pkg",
    String.raw`\@demo://about`,
    "@",
    "@ demo://about",
    "@@demo://about",
    "a @(b) @{u} @: @, @!",
    "`@demo://about`",
    "``a ` @demo://about``",
    "```ts\n@Component({})\nclass A {}\n```",
    '@"never closed',
    "@'never\nclosed'",
    '@""',
    '@"  "',
    "x'@b.c",
    "'@b.c and so on",
    "first_@example.com",
    "a~@b",
    "**a@b.c**",
    "*a*@b",
    "a**@b",
    "**a** b**@c",
    "a ** b**@c",
    "{@x://a}",
  ])("in %s", (text) => {
    expect(targets(text)).toEqual([]);
  });
});

test("a backtick that is never closed hides nothing", () => {
  expect(targets("`a @x://1 `` @x://2")).toEqual(["x://1", "x://2"]);
});

test("what is longer than any name is only text", () => {
  expect(targets(`@${"a".repeat(9000)} @x://y @"${"b".repeat(9000)}"`)).toEqual(["x://y"]);
});

test("a target has at most 8192 characters", () => {
  const lengths = (text: string) => targets(text).map(({ length }) => length);
  expect(lengths(`@${"a".repeat(8192)} @"${"b".repeat(8192)}"`)).toEqual([8192, 8192]);
  expect(lengths(`@${"a".repeat(8193)}`)).toEqual([]);
});

test("a closing asterisk ends a mention if the opening one is at most 200 characters before it", () => {
  expect(targets(`*${"y".repeat(198)} @a*`)).toEqual(["a"]);
  expect(targets(`*${"y".repeat(199)} @a*`)).toEqual(["a*"]);
});

test("a mention stands where it was written, its punctuation outside", () => {
  expect(findMentions('Read @"a b", ok?')).toEqual([
    { kind: "text", text: "Read " },
    { kind: "mention", text: '@"a b"', target: "a b", isQuoted: true },
    { kind: "text", text: ", ok?" },
  ]);
});

describe("whatever is typed", () => {
  const signs = fc.constantFrom(..."@@@\"'`\\ \n()[]{}<>.,;:!?/a1ä漢。を**_~".split(""));
  const typed = fc.oneof(fc.string({ unit: signs, maxLength: 200 }), fc.string({ unit: anyCharacter, maxLength: 200 }));

  test("its pieces, joined, are all of it, and no mention is empty", () => {
    fc.assert(
      fc.property(typed, (text) => {
        const parts = findMentions(text);
        expect(parts.map((part) => part.text).join("")).toBe(text);
        for (const part of parts) expect(part.kind === "text" ? part.text : part.target).not.toBe("");
      }),
      { numRuns: scaled(20_000, 500), seed: seed() },
    );
  });

  test("an e-mail address in it is no reference", () => {
    const word = fc.string({ unit: fc.constantFrom(..."abc.,!?()".split("")), maxLength: 8 });
    fc.assert(
      fc.property(fc.emailAddress(), word, word, (address, before, after) => {
        // Markdown's marks before the @ are taken for the end of emphasis, after which a reference may stand.
        fc.pre(!/[*_~]@/.test(address));
        expect(targets(`${before} ${address} ${after}`)).toEqual([]);
      }),
      { numRuns: scaled(10_000, 300), seed: seed() },
    );
  });

  test.each([
    ["marks", "@"],
    ["brackets", "(@("],
    ["quotes", '@"\n'],
    ["backticks of ever other length", "` `` ``` @"],
    ["escapes", "@\\ "],
    ["commas", "@a,"],
    ["opened quotes", " '@a"],
    ["emphasis", "**@a**_@b_"],
    ["Japanese", "を@aを"],
  ])("a megabyte of %s is read once; without --long, a third of it", (_, unit) => {
    const text = unit.repeat(scaled(1_000_000, 300_000) / unit.length);
    expect(
      findMentions(text)
        .map((part) => part.text)
        .join(""),
    ).toBe(text);
  });
});
