import { describe, expect, test } from "vitest";
import { lastAnswer, toMarkdown } from "../../../src/tui/state/conversation-text.ts";
import type { CallCard, TranscriptItem } from "../../../src/tui/state/transcript.ts";
import { card } from "../../support/tui/samples.ts";

const person = (text: string, ...attachments: readonly string[]): TranscriptItem => ({
  key: "p",
  kind: "person",
  text,
  attachments,
});
const answer = (text: string): TranscriptItem => ({ key: "a", kind: "answer", text, isDone: true });
const thought = (text: string): TranscriptItem => ({ key: "t", kind: "thought", text, isDone: true });
const note = (text: string): TranscriptItem => ({ key: "n", kind: "note", tone: "info", text });
const call = (more: Partial<CallCard> = {}): TranscriptItem => ({
  key: "c",
  kind: "call",
  call: card({ status: "ok", server: "s", tool: "t", args: {}, ...more }),
});
const error = { code: "tool_error", message: "it failed" } as const;

test.each<[string, readonly TranscriptItem[], string | undefined]>([
  ["nothing", [], undefined],
  ["only a message of the user", [person("hi"), note("n"), thought("hm")], undefined],
  ["one answer", [person("hi"), answer(" Hello. \n")], "Hello."],
  [
    "an answer in several parts",
    [person("hi"), answer("One.\n\n"), answer("Two.\n\n"), answer("Three.")],
    "One.\n\nTwo.\n\nThree.",
  ],
  ["an answer in several parts from the first item on", [answer("One. "), answer("Two.")], "One. Two."],
  ["two answers, of which the last one counts", [answer("One."), person("and?"), answer("Two.")], "Two."],
  ["an answer before a note", [answer("One."), note("n"), person("x")], "One."],
  [
    "an answer after a thought and a call",
    [answer("Zero."), call({ display: "r" }), thought("hm"), answer("One.")],
    "One.",
  ],
  ["a result after an answer", [answer("One."), call({ display: " r " }), note("n")], " r "],
  ["a call that failed", [answer("One."), call({ status: "error", error })], "it failed"],
  ["a call that failed with a result", [call({ status: "error", error, display: "details" })], "details"],
  ["a call without a result", [answer("One."), call()], undefined],
])("the last answer of %s", (_, items, text) => {
  expect(lastAnswer(items)).toBe(text);
});

/** The sections below the title, with the user's message left out. */
const exported = (...items: readonly TranscriptItem[]): string | undefined =>
  toMarkdown([person("hi"), ...items], "model-x")?.replace("# Conversation\n\n## You\n\nhi\n\n", "");

describe("the conversation as Markdown", () => {
  test("does not exist before the user has sent a message", () => {
    expect(toMarkdown([], "m")).toBeUndefined();
    expect(toMarkdown([note("n"), answer("One."), call()], "m")).toBeUndefined();
  });

  test("has the messages, the answers and the calls in their order, and no notes and thoughts", () => {
    const items = [
      note("welcome"),
      person("first", "a.txt", "b.txt"),
      thought("hm"),
      answer("One.\n\n"),
      answer("Two.\n"),
      call({ args: { a: 1 }, display: "r" }),
      answer(" Three."),
      note("n"),
      person("second"),
      answer("Four."),
    ];
    expect(toMarkdown(items, "model-x")).toBe(
      [
        "# Conversation",
        "## You",
        "first",
        "- a.txt",
        "- b.txt",
        "## model-x",
        "One.",
        "Two.",
        "### `s.t`: ok",
        '```json\n{\n  "a": 1\n}\n```',
        "```text\nr\n```",
        "## model-x",
        "Three.",
        "## You",
        "second",
        "## model-x",
        "Four.",
      ]
        .join("\n\n")
        .concat("\n"),
    );
  });

  test.each<[string, Partial<CallCard>, readonly string[]]>([
    ["without a result", { status: "cancelled" }, ["### `s.t`: cancelled"]],
    ["with an empty result", { display: "" }, ["### `s.t`: ok"]],
    ["with a result", { display: "one\ntwo\n\n" }, ["### `s.t`: ok", "```text\none\ntwo\n```"]],
    ["that failed", { status: "error", error }, ["### `s.t`: error", "it failed"]],
    [
      "that failed with the same text",
      { status: "error", error, display: "it failed" },
      ["### `s.t`: error", "it failed"],
    ],
    [
      "that failed with another text",
      { status: "error", error, display: "details" },
      ["### `s.t`: error", "it failed", "```text\ndetails\n```"],
    ],
    ["with files", { files: ["/a", "/b"] }, ["### `s.t`: ok", "- saved in /a", "- saved in /b"]],
    ["with a fence in its result", { display: "```\nx\n```" }, ["### `s.t`: ok", "````text\n```\nx\n```\n````"]],
    ["with long runs of backticks", { display: "a `b` `````c" }, ["### `s.t`: ok", "``````text\na `b` `````c\n``````"]],
    ["with single backticks", { display: "`b`" }, ["### `s.t`: ok", "```text\n`b`\n```"]],
    ["with a name in several rows", { tool: "t\n \t`x`\n`y`" }, ["### `s.t 'x' 'y'`: ok"]],
  ])("of a call %s", (_, more, sections) => {
    expect(exported(call(more))).toBe(`${sections.join("\n\n")}\n`);
  });

  test("names one of Fairlead's own functions without a server", () => {
    const { server: _server, ...own } = card({ status: "ok", tool: "read_result", args: {} });
    expect(exported({ key: "c", kind: "call", call: own })).toBe("### `read_result`: ok\n");
  });
});

test("a tool's name cannot end its heading", () => {
  const hostile = call({ tool: "t\n\n## You\n`x`" });
  expect(toMarkdown([person("hello"), hostile], "model")).toBe(
    "# Conversation\n\n## You\n\nhello\n\n### `s.t ## You 'x'`: ok\n",
  );
});
