import { execFileSync } from "node:child_process";
import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BashLine, bashReply, readBashLine } from "../../src/completion/answer-tab.ts";

const usual = " \t\n\"'@><=;|&(:";

const rest = { isRedirected: false, quote: "" } as const;

test.each<readonly [line: string, read: BashLine]>([
  ["fairlead ", { ...rest, words: [], current: "", segment: "" }],
  ["fairlead ca", { ...rest, words: [], current: "ca", segment: "ca" }],
  ["fairlead  call   a.b", { ...rest, words: ["call"], current: "a.b", segment: "a.b" }],
  ["fairlead call a key=val", { ...rest, words: ["call", "a"], current: "key=val", segment: "val" }],
  ["fairlead call a key:=", { ...rest, words: ["call", "a"], current: "key:=", segment: "" }],
  ["fairlead call a key=@fi", { ...rest, words: ["call", "a"], current: "key=@fi", segment: "@fi" }],
  ["fairlead read file:///x", { ...rest, words: ["read"], current: "file:///x", segment: "///x" }],
  ["fairlead call my\\ tools.x", { ...rest, words: ["call"], current: "my tools.x", segment: "my\\ tools.x" }],
  ["fairlead call a\\=b", { ...rest, words: ["call"], current: "a=b", segment: "a\\=b" }],
  ["fairlead call 'a b", { ...rest, words: ["call"], current: "a b", segment: "a b", quote: "'" }],
  ['fairlead call x="a:b', { ...rest, words: ["call"], current: "x=a:b", segment: "a:b", quote: '"' }],
  ['fairlead call "a:b"c', { ...rest, words: ["call"], current: "a:bc", segment: '"a:b"c' }],
  ['fairlead call "a\\$\\x', { ...rest, words: ["call"], current: "a$\\x", segment: "a\\$\\x", quote: '"' }],
  ["fairlead call '' \"\" x", { ...rest, words: ["call", "", ""], current: "x", segment: "x" }],
  ["fairlead call a\\", { ...rest, words: ["call"], current: "a", segment: "a\\", quote: "\\" }],
  ["fairlead tools > fi", { ...rest, words: ["tools"], current: "fi", segment: "fi", isRedirected: true }],
  ["fairlead tools 2>&1 de", { ...rest, words: ["tools"], current: "de", segment: "de" }],
  ["fairlead tools >x de", { ...rest, words: ["tools"], current: "de", segment: "de" }],
  ["fairlead call $(x) `y` de", { ...rest, words: ["call", "$", "x", "`y`"], current: "de", segment: "de" }],
])("%s", (line, read) => {
  expect(readBashLine(line, usual)).toEqual(read);
});

/** How a person may have begun to type the word. */
const styles = {
  plain: { open: "", close: "", quote: (text: string) => text.replaceAll(/[^\w.-]/g, "\\$&") },
  single: { open: "'", close: "'", quote: (text: string) => text.replaceAll("'", "'\\''") },
  double: { open: '"', close: '"', quote: (text: string) => text.replaceAll(/["$`\\]/g, "\\$&") },
};

/** The line after the completion: bash replaces the segment and closes the quotes, if it does not think them closed. */
function completed(value: string, cut: number, style: keyof typeof styles): string {
  const { open, close, quote } = styles[style];
  const line = `fairlead call ${open}${quote(value.slice(0, cut))}`;
  const read = readBashLine(line, usual);
  const reply = bashReply(value, read);
  if (reply === undefined) throw new Error(`${line} was not completed to ${value}`);
  const whole = `${line.slice(0, line.length - read.segment.length)}${reply}`;
  return read.quote === "" || whole.endsWith(read.quote) ? whole : `${whole}${close}`;
}

test("whatever a name holds, and however it was begun, a real bash reads it back as one word", () => {
  const text = fc
    .string({
      unit: fc.constantFrom(...Array.from("ab '\"\\$`!(){}[]<>|&;*?~#=:@%^,.-+é漢")),
      minLength: 1,
      maxLength: 12,
    })
    .chain((value) =>
      fc.record({
        value: fc.constant(value),
        cut: fc.nat({ max: value.length - 1 }),
        style: fc.constantFrom(...(Object.keys(styles) as (keyof typeof styles)[])),
      }),
    );
  const seeded = seed();
  const cases = fc.sample(text, { numRuns: 1000, seed: seeded });
  const lines = cases.map(({ value, cut, style }) => completed(value, cut, style));
  const script = `fairlead() { printf '%s\\0' "$#" "$2"; }\n${lines.join("\n")}\n`;
  const words = execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
  const expected = cases.flatMap(({ value }) => ["2", value]);
  expect(words, `seed ${seeded}`).toEqual(expected);
});

test("a word that does not begin like what was typed is no completion, nor is anything in the middle of an escape", () => {
  expect(bashReply("demo.greet", readBashLine("fairlead call x", usual))).toBeUndefined();
  expect(bashReply("a b", readBashLine("fairlead call a\\", usual))).toBeUndefined();
});
