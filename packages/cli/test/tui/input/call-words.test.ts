import { expect, test } from "vitest";
import { nothing, toWords } from "../../../src/completion/answer.ts";
import {
  type CallTarget,
  callName,
  offerArguments,
  offerTargets,
  offerTools,
  toSuggestions,
} from "../../../src/tui/input/call-words.ts";

function tool(serverToolName: string, parameter: string, more: Partial<CallTarget> = {}): CallTarget {
  return {
    name: `f_${serverToolName}`,
    server: "files",
    serverToolName,
    description: `the tool ${serverToolName}`,
    enabled: true,
    inputSchema: { type: "object", properties: { [parameter]: { type: "boolean" } } },
    ...more,
  };
}

const tools: readonly CallTarget[] = [
  tool("read", "path"),
  tool("write", "text"),
  tool("off", "x", { enabled: false }),
  tool("bad", "y", { quarantined: "its schema is malformed" }),
  tool("worst", "z", { enabled: false, quarantined: "its schema is malformed" }),
];

test("the user sees the tools that can be called, best match first, with their descriptions", () => {
  const read = { value: "files.read", about: "the tool read" };
  const write = { value: "files.write", about: "the tool write" };
  expect(offerTargets("", tools)).toEqual([read, write]);
  expect(offerTargets("wr", tools)).toEqual([write]);
  expect(offerTargets("files.r", tools)).toEqual([read, write]);
  expect(offerTargets("bad", tools)).toEqual([]);
});

test("the user sees at most 50 tools and 50 words", () => {
  const many = Array.from({ length: 51 }, (_, at) => tool(`t${at}`, "x"));
  const names = many.map(callName);
  expect(offerTargets("", many).map(({ value }) => value)).toEqual(names.slice(0, 50));
  const words = toSuggestions(toWords(names.map((value) => ({ value }))), "");
  expect(words.map(({ value }) => value)).toEqual(names.slice(0, 50));
});

test("a command with a tool as its argument suggests every tool, also disabled and quarantined tools", () => {
  expect(offerTools(tools)).toEqual(
    ["read", "write", "off", "bad", "worst"].map((name) => ({ value: `files.${name}`, about: `the tool ${name}` })),
  );
});

test("the parameters of a tool are suggested after either of its names", () => {
  const names = (target: string, before: readonly string[] = [], typed = ""): unknown => {
    const answer = offerArguments(target, before, typed, [...tools, tool("read", "other", { name: "second_read" })]);
    return answer && toSuggestions(answer, typed).map(({ value }) => value);
  };
  expect(names("files.read")).toEqual(["path="]);
  expect(names("f_read")).toEqual(["path="]);
  expect(names("second_read")).toEqual(["other="]);
  expect(names("files.write")).toEqual(["text="]);
  expect(names("f_write", ["text=true"])).toEqual([]);
  expect(names("f_write", [], "text=f")).toEqual(["text=false"]);
  expect(names("files.nothing")).toBeUndefined();
});

test("a value that is a file has no suggestions, and other words are suggested by rank", () => {
  expect(offerArguments("files.read", [], "path=@", tools)).toEqual({ kind: "files", prefix: "path=@" });
  expect(toSuggestions({ kind: "files", prefix: "path=@" }, "path=@")).toEqual([]);
  expect(toSuggestions(nothing, "")).toEqual([]);
  const words = toWords([{ value: "xab" }, { value: "ab", about: "best", isOpen: true }, { value: "c" }]);
  expect(toSuggestions(words, "ab")).toEqual([
    { value: "ab", about: "best", isOpen: true },
    { value: "xab", about: "", isOpen: false },
  ]);
});
