import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createTemplateMatcher,
  encodeUri,
  expandTemplate,
  matchesTemplate,
  parseTemplate,
  type TemplateValues,
} from "../../src/text/uri-template.ts";
import { anyCharacter } from "../support/any-character.ts";

/** The values that the RFC's examples are about. */
const values: TemplateValues = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  empty_list: [],
  undef: undefined,
};

describe("an expression gives what RFC 6570 says", () => {
  test.each([
    // Level 1 and 2
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["X{#var}", "X#value"],
    ["X{#hello}", "X#Hello%20World!"],
    // Level 3
    ["map?{x,y}", "map?1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["X{.var}", "X.value"],
    ["X{.x,y}", "X.1024.768"],
    ["{/var}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
    // 3.2.1: lists
    ["{count}", "one,two,three"],
    ["{count*}", "one,two,three"],
    ["{/count}", "/one,two,three"],
    ["{/count*}", "/one/two/three"],
    ["{;count}", ";count=one,two,three"],
    ["{;count*}", ";count=one;count=two;count=three"],
    ["{?count}", "?count=one,two,three"],
    ["{?count*}", "?count=one&count=two&count=three"],
    ["{&count*}", "&count=one&count=two&count=three"],
    // 3.2.2: simple
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{list}", "red,green,blue"],
    ["{list*}", "red,green,blue"],
    ["{keys}", "semi,%3B,dot,.,comma,%2C"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
    // 3.2.3: reserved
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{+path:6}/here", "/foo/b/here"],
    ["{+list}", "red,green,blue"],
    ["{+list*}", "red,green,blue"],
    ["{+keys}", "semi,;,dot,.,comma,,"],
    ["{+keys*}", "semi=;,dot=.,comma=,"],
    // 3.2.4: fragment
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{#path:6}/here", "#/foo/b/here"],
    ["{#list*}", "#red,green,blue"],
    ["{#keys}", "#semi,;,dot,.,comma,,"],
    ["{#keys*}", "#semi=;,dot=.,comma=,"],
    // 3.2.5: label
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["{.half,who}", ".50%25.fred"],
    ["www{.dom*}", "www.example.com"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.var:3}", "X.val"],
    ["X{.list}", "X.red,green,blue"],
    ["X{.list*}", "X.red.green.blue"],
    ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
    ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
    ["X{.empty_keys}", "X"],
    ["X{.empty_keys*}", "X"],
    // 3.2.6: path
    ["{/who,who}", "/fred/fred"],
    ["{/half,who}", "/50%25/fred"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{/var:1,var}", "/v/value"],
    ["{/list}", "/red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
    ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
    // 3.2.7: path-style parameters
    ["{;who}", ";who=fred"],
    ["{;half}", ";half=50%25"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,undef,who}", ";v=6;who=fred"],
    ["{;hello:5}", ";hello=Hello"],
    ["{;list}", ";list=red,green,blue"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
    ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
    // 3.2.8 and 3.2.9: query and continuation
    ["{?who}", "?who=fred"],
    ["{?half}", "?half=50%25"],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?var:3}", "?var=val"],
    ["{?list}", "?list=red,green,blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
    ["{&who}", "&who=fred"],
    ["{&var:3}", "&var=val"],
    ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
    ["{?empty_list}{?empty_list*}{?empty_keys}", ""],
  ])("%s → %s", (template, uri) => {
    expect(expandTemplate(template, values)).toBe(uri);
    expect(matchesTemplate(uri, template)).toBe(true);
  });
});

test.each<[string, TemplateValues, string]>([
  ["a prefix counts characters, not bytes", { x: "🙂äb" }, "%F0%9F%99%82%C3%A4"],
  ["half of a character becomes a replacement", { x: "\ud800" }, "%EF%BF%BD"],
  ["a value is not taken from a prototype", {}, ""],
])("%s", (_, given, expected) => {
  expect(expandTemplate("{x:2}{toString}", given)).toBe(expected);
});

test("what is percent-encoded stays so where delimiters may stand, and nowhere else", () => {
  expect(expandTemplate("{+x}|{x}", { x: "a%20b%" })).toBe("a%20b%25%7Ca%2520b%25");
});

test("literals that a URI cannot hold are encoded", () => {
  expect(expandTemplate("file:///ä b/{x}", { x: "y" })).toBe("file:///%C3%A4%20b/y");
  expect(matchesTemplate("file:///ä b/y", "file:///ä b/{x}")).toBe(true);
});

test("the first characters of a list cannot be taken", () => {
  expect(() => expandTemplate("{list:2}", values)).toThrow('"list" must be a string');
  expect(() => expandTemplate("{keys:2}", values)).toThrow('"keys" must be a string');
});

describe("a template that is none says why", () => {
  test.each([
    ["{/id*", 'has a "{" without a "}"'],
    ["/id*}", 'has a "}" without a "{"'],
    ["{a{b}}", "has an invalid variable in {a{b}"],
    ["{}", "has an invalid variable in {}"],
    ["{/?id}", "has an invalid variable in {/?id}"],
    ["{var:prefix}", "has an invalid variable in {var:prefix}"],
    ["{var:0}", "has an invalid variable in {var:0}"],
    ["{var:10000}", "has an invalid variable in {var:10000}"],
    ["{hello:2*}", "has an invalid variable in {hello:2*}"],
    ["{hello:2:2}", "has an invalid variable in {hello:2:2}"],
    ["{with space}", "has an invalid variable in {with space}"],
    ["{x, y}", "has an invalid variable in {x, y}"],
    ["{x,}", "has an invalid variable in {x,}"],
    ["{-prefix|/-/|var}", "has an invalid variable in {-prefix|/-/|var}"],
    ["{%4}", "has an invalid variable in {%4}"],
    ["{!hello}", 'uses "!", a reserved operator, in {!hello}'],
    ["{=path}", 'uses "=", a reserved operator, in {=path}'],
    ["{|var*}", 'uses "|", a reserved operator, in {|var*}'],
  ])("%s", (template, reason) => {
    expect(parseTemplate(template)).toEqual({ kind: "malformed", reason });
    expect(() => expandTemplate(template, {})).toThrow(`the template ${reason}`);
    expect(matchesTemplate(template, template)).toBe(false);
  });
});

test("the variables of a template are known, each once", () => {
  const parsed = parseTemplate("x://{a}{/b*,user-id:3}{?a,c.d,%41}");
  expect(parsed.kind === "template" && parsed.variables).toEqual(["a", "b", "user-id", "c.d", "%41"]);
});

describe("a URI is a template's", () => {
  test.each([
    ["demo://knots/bowline", "demo://knots/{name}", true],
    ["demo://knots/", "demo://knots/{name}", true],
    ["demo://knots/a:b@c d", "demo://knots/{name}", true],
    ["demo://knots/a/b", "demo://knots/{name}", false],
    ["demo://knots/a?b", "demo://knots/{name}", false],
    ["demo://knots/a/b", "demo://knots/{+name}", true],
    ["demo://knots/a/b", "demo://knots/{name*}", true],
    ["other://knots/a", "demo://knots/{name}", false],
    ["demo://knots/a", "demo://knots/{name}/more", false],
    ["demo://a.b/more", "demo://{name}/more", true],
    ["x://aaab", "x://{a}{b}{c}b", true],
    ["x://aaac", "x://{a}{b}{c}b", false],
    ["x://s?q=1", "x://s{?q}", true],
    ["x://s?q=1&r=2", "x://s{?q,r}", true],
    ["x://s?q=1&fixed=1", "x://s{?q}&fixed=1", true],
    ["x://s?evil=1", "x://s{?q}", false],
    ["x://s?qq=1", "x://s{?q}", false],
    ["x://s?q=1&evil=2", "x://s{?q}", false],
    ["x://s?any=1&other=2", "x://s{?q*}", true],
    ["x://s;q=1;r", "x://s{;q,r}", true],
    ["x://s/a/b", "x://s{/a,b}", true],
    ["x://s/a/b", "x://s{/a}", false],
    ["x://s/a/b", "x://s{/a*}", true],
    ["x://s", "x://s{/a}{?b}{#c}", true],
    ["", "", true],
    ["x", "", false],
  ])("%s of %s: %j", (uri, template, expected) => {
    expect(matchesTemplate(uri, template)).toBe(expected);
  });

  test("whatever was put into it", () => {
    const name = fc.constantFrom("a", "b", "c");
    const expression = fc.tuple(
      fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&"),
      fc.array(name, { minLength: 1, maxLength: 3 }),
    );
    const template = fc
      .array(
        fc.oneof(
          fc.constantFrom("x://", "/", "-", "ä"),
          expression.map(([sign, names]) => `{${sign}${[...new Set(names)].join(",")}}`),
        ),
      )
      .map((pieces) => pieces.join(""));
    const value = fc.string({ unit: anyCharacter });
    fc.assert(
      fc.property(template, fc.record({ a: value, b: value }, { requiredKeys: [] }), (written, given) => {
        expect(matchesTemplate(expandTemplate(written, given), written)).toBe(true);
      }),
      { numRuns: scaled(5000, 150), seed: seed() },
    );
  });
});

describe("a hostile template", () => {
  test.each([
    ["very long", "{a}".repeat(40_000), "is longer than 8192 characters"],
    ["deep", "{".repeat(8000), 'has a "{" without a "}"'],
    ["with thousands of expressions", "{a}".repeat(2000), "has more than 128 variables"],
    ["with thousands of variables", `{${"a,".repeat(4000)}a}`, "has more than 128 variables"],
  ])("that is %s is refused", (_, template, reason) => {
    expect(parseTemplate(template)).toEqual({ kind: "malformed", reason });
  });

  test("that would keep a backtracking matcher busy for years is answered", () => {
    const template = `x://${"{a*}".repeat(127)}!`;
    expect(matchesTemplate(`x://${"a".repeat(20_000)}`, template)).toBe(false);
    expect(matchesTemplate(`x://${"a".repeat(20_000)}!`, template)).toBe(true);
    expect(matchesTemplate("a".repeat(70_000), "{+a}")).toBe(false);
  });

  test("is accepted up to each limit", () => {
    expect(parseTemplate("a".repeat(8192)).kind).toBe("template");
    expect(parseTemplate("a".repeat(8193)).kind).toBe("malformed");
    expect(parseTemplate("{a}".repeat(128)).kind).toBe("template");
    expect(parseTemplate("{a}".repeat(129)).kind).toBe("malformed");
    expect(matchesTemplate("a".repeat(65_536), "{+a}")).toBe(true);
    expect(matchesTemplate("a".repeat(65_537), "{+a}")).toBe(false);
    expect(expandTemplate("{a}", { a: "a".repeat(65_536) })).toHaveLength(65_536);
    expect(() => expandTemplate("{a}", { a: "a".repeat(65_537) })).toThrow("more than 65536 characters");
  });

  test("makes no URI without end", () => {
    expect(() => expandTemplate("{a}".repeat(100), { a: "ä".repeat(1000) })).toThrow("more than 65536 characters");
  });

  test("never makes the parser throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."{}*:,+#./;?&%4a-_ ".split("")) }), (text) => {
        const parsed = parseTemplate(text);
        if (parsed.kind === "template") expect(() => expandTemplate(text, {})).not.toThrow();
      }),
      { numRuns: scaled(10_000, 300), seed: seed() },
    );
  });
});

test("a control character is encoded with two digits", () => {
  expect(expandTemplate("x:{a}", { a: "\n" })).toBe("x:%0A");
});

test("one variable that takes an object makes the names in the URI free", () => {
  expect(matchesTemplate("x:y?c=1", "x:y{?a,b*}")).toBe(true);
  expect(matchesTemplate("x:y?c=1", "x:y{?a,b}")).toBe(false);
});

test("a matcher has the encoded text before the first expression, and none exists for a malformed template", () => {
  expect(createTemplateMatcher("a:///ä b/{x}/{y}")).toMatchObject({ prefix: "a:///%C3%A4%20b/", passes: 6 });
  expect(createTemplateMatcher("{+x}")).toMatchObject({ prefix: "", passes: 2 });
  expect(createTemplateMatcher("a:///{")).toBeUndefined();
  const { matches = () => undefined } = createTemplateMatcher("a:///ä/{x}") ?? {};
  expect([encodeUri("a:///ä/7"), encodeUri("a:///%C3%A4/7"), encodeUri("b:///ä/7"), "a:///ä/7"].map(matches)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("an encoded byte is not encoded again, and every other character that a URI cannot have is", () => {
  expect(encodeUri("a:/%41%4%zz%/ä あ\u{1F600}\uD800%")).toBe(
    "a:/%41%254%25zz%25/%C3%A4%20%E3%81%82%F0%9F%98%80%EF%BF%BD%25",
  );
});
