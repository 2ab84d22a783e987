import { describe, expect, test } from "vitest";
import { splitTypedLines } from "../../src/resources/typed-lines.ts";

describe("typed lines", () => {
  test.each<[string, string, readonly string[]]>([
    ["one line each", "a.b x=1\n\n  c.d  \n", ["a.b x=1", "c.d"]],
    ["a quoted value spans lines", 'a.b x="1\n2" y=3\nc.d', ['a.b x="1\n2" y=3', "c.d"]],
    ["single quotes too", "a.b 'x=1\n2'\nc.d", ["a.b 'x=1\n2'", "c.d"]],
    ["an escaped quote closes nothing", 'a.b x="1\\"\n2"\nc.d', ['a.b x="1\\"\n2"', "c.d"]],
    ["an apostrophe opens nothing", "a.b x=it's\nc.d x=it's", ["a.b x=it's", "c.d x=it's"]],
    ["parentheses span lines", 'a.b(\n  x: "1\n)",\n  y: [2,\n3])\nc.d', ['a.b(\n  x: "1\n)",\n  y: [2,\n3])', "c.d"]],
    ["a parenthesis in a value does not", "a.b x=(1\nc.d", ["a.b x=(1", "c.d"]],
    ["a quote after a call opens nothing", "a.b(1) it's\nc.d", ["a.b(1) it's", "c.d"]],
    ["an escaped quote opens nothing", 'a.b x=\\"1\nc.d', ['a.b x=\\"1', "c.d"]],
    ["a quote at the start of a line opens", "c.d\n'a\nb'", ["c.d", "'a\nb'"]],
    ["nothing", "", []],
  ])("%s", (_name, text, lines) => {
    expect(splitTypedLines(text)).toMatchObject({ lines });
    expect(splitTypedLines(text).open).toBeUndefined();
  });

  test.each([
    ["", 0],
    ["a", 0],
    ["a\n", 2],
    ["a\nb\n\n c", 5],
  ])("the last line of %j starts at %i", (text, lastStart) => {
    expect(splitTypedLines(text).lastStart).toBe(lastStart);
  });

  test("a quote that is never closed takes the rest, so that no line of it is run", () => {
    expect(splitTypedLines('c.d\na.b x="1\nc.d')).toEqual({
      lines: ["c.d", 'a.b x="1\nc.d'],
      lastStart: 4,
      open: { quote: '"', at: 10 },
    });
  });
});
