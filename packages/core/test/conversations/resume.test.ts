import { expect, test } from "vitest";
import type { ConversationHead, RecordedLine } from "../../src/conversations/format.ts";
import { resumeFrom } from "../../src/conversations/resume.ts";
import type { Content, Part } from "../../src/normalise/model-types.ts";

const time = "2026-01-31T09:30:00.000Z";
const head: ConversationHead = {
  v: 1,
  id: "20260131-093000-a1b2c3",
  time,
  workspace: "/w",
  model: { provider: "p", name: "first" },
};

type Untimed<L> = L extends RecordedLine ? Omit<L, "time"> : never;
const resumed = (lines: readonly Untimed<RecordedLine>[], workspace = "/w") =>
  resumeFrom({ head, lines: lines.map((line) => ({ time, ...line }) as RecordedLine) }, workspace);

const user = (...parts: Part[]): Content => ({ role: "user", parts });
const model = (...parts: Part[]): Content => ({ role: "model", parts });
const content = (one: Content) => ({ type: "content" as const, content: one });
const input = { type: "input" as const, text: "hi" };
const call = (name: string, id?: string): Part => ({
  functionCall: { name, args: {}, ...(id !== undefined && { id }) },
});
const answer = (name: string, output: string): Part => ({ functionResponse: { name, response: { output } } });
const unknown = { error: "The result of this call is not known: it may or may not have run." };
const stopped = model({ text: "[Fairlead was stopped before there was an answer.]" });

test("a conversation without lines is empty, with the model of its head", () => {
  expect(resumed([])).toEqual({
    history: [],
    model: { provider: "p", name: "first" },
    callIds: [],
    names: [],
    offered: [],
    results: [],
    loadedSkills: [],
    disabled: [],
    approvals: [],
  });
});

test("the last model, title, functions and names count; results and ids of calls are collected", () => {
  const a = { server: "s", name: "a", as: "a" };
  const args = { name: "a", args: {}, status: "ok" as const };
  const state = resumed([
    { type: "title", title: "one" },
    { type: "title", title: "two" },
    { type: "model", provider: "q", name: "second" },
    { type: "names", tools: [a], functions: { call_tool: "call_tool" } },
    {
      type: "names",
      tools: [
        { ...a, name: "b" },
        { ...a, as: "s__a" },
      ],
    },
    { type: "result", id: "1", what: "w" },
    { type: "result", id: "2", what: "x", server: "s" },
    { type: "call", id: "c1", ...args },
    { type: "call", id: "c2", ...args },
    { type: "call", id: "c1", ...args },
    { type: "note", message: "no change" },
  ]);
  expect(state).toMatchObject({
    title: "two",
    model: { provider: "q", name: "second" },
    functions: { call_tool: "call_tool" },
    callIds: ["c1", "c2"],
  });
  expect(state.names).toEqual([
    { ...a, name: "b" },
    { ...a, as: "s__a" },
  ]);
  expect(state.results).toEqual([
    { id: "1", what: "w" },
    { id: "2", what: "x", server: "s" },
  ]);
});

test("the offered declarations are replaced from a position on", () => {
  const tool = (name: string) => ({ server: "s", name });
  const state = resumed([
    { type: "offered", from: 0, places: ["a", "b", "c"].map(tool) },
    { type: "offered", from: 1, places: ["d"].map(tool) },
  ]);
  expect(state.offered).toEqual(["a", "d"].map(tool));
});

test("a tool is disabled until it is enabled again", () => {
  const tool = (server: string, serverToolName: string) => ({ server, serverToolName });
  const set = (one: ReturnType<typeof tool>, enabled: boolean) => ({ type: "tool" as const, ...one, enabled });
  const [a, b] = [tool("s", "a"), tool("t", "a")];
  expect(resumed([set(a, false), set(b, false)]).disabled).toEqual([a, b]);
  expect(resumed([set(a, false), set(b, false), set(a, true)]).disabled).toEqual([b]);
});

test("an approval counts in the workspace where it was given", () => {
  const approval = (fingerprint: string) => ({ server: "s", kind: "reads" as const, fingerprint });
  const lines = [
    { type: "approval", approval: approval("at first") },
    { type: "resumed", workspace: "/other" },
    { type: "approval", approval: approval("elsewhere") },
    { type: "resumed", workspace: "/w" },
    { type: "approval", approval: approval("later") },
  ] as const;
  expect(resumed(lines).approvals).toEqual([approval("at first"), approval("later")]);
  expect(resumed(lines, "/other").approvals).toEqual([approval("elsewhere")]);
});

test("responses follow their calls in the order of the calls, and media beside them come last", () => {
  const media: Part = { inlineData: { mimeType: "image/png", data: "AAAA" } };
  const calls = model(call("a"), call("b"));
  const { history } = resumed([
    input,
    content(user({ text: "hi" })),
    content(calls),
    { type: "response", index: 1, part: answer("b", "2"), beside: [media] },
    { type: "response", index: 0, part: answer("a", "1") },
    // There is no third call.
    { type: "response", index: 2, part: answer("c", "3") },
    content(model({ text: "done" })),
    { type: "response", index: 0, part: answer("a", "too late") },
  ]);
  expect(history).toEqual([
    user({ text: "hi" }),
    calls,
    user(answer("a", "1"), answer("b", "2")),
    user(media),
    model({ text: "done" }),
  ]);
});

test("a turn that was cut off is completed, at the end and before the next turn", () => {
  const calls = model(call("a", "1"), call("b"));
  const responses = user(answer("a", "1"), { functionResponse: { name: "b", response: unknown } });
  const open = [
    content(user({ text: "one" })),
    content(calls),
    { type: "response" as const, index: 0, part: answer("a", "1") },
  ];
  expect(resumed(open).history).toEqual([user({ text: "one" }), calls, responses]);
  expect(resumed([content(user({ text: "one" }))]).history).toEqual([user({ text: "one" }), stopped]);
  for (const next of [input, { type: "resumed", workspace: "/w" } as const])
    expect(resumed([content(user({ text: "one" })), next, content(user({ text: "two" }))]).history).toEqual([
      user({ text: "one" }),
      stopped,
      user({ text: "two" }),
      stopped,
    ]);
  expect(resumed([content(calls)]).history.at(-1)).toEqual(
    user(
      { functionResponse: { id: "1", name: "a", response: unknown } },
      { functionResponse: { name: "b", response: unknown } },
    ),
  );
});

test("only calls of the model wait for responses", () => {
  const odd = user(call("a"));
  expect(resumed([content(odd), { type: "response", index: 0, part: answer("a", "1") }]).history).toEqual([
    odd,
    stopped,
  ]);
});

test("a rewind keeps the first messages and answers open calls before; a compaction replaces all messages", () => {
  const messages = ["1", "2", "3"].map((text) => content(model({ text })));
  expect(resumed([...messages, { type: "rewind", to: 2 }]).history).toEqual([
    model({ text: "1" }),
    model({ text: "2" }),
  ]);
  const calls = model(call("a"));
  expect(resumed([content(calls), { type: "rewind", to: 2 }]).history).toHaveLength(2);
  const summary = [user({ text: "so far?" }), model({ text: "this" })];
  expect(resumed([...messages, content(calls), { type: "compact", contents: summary }]).history).toEqual(summary);
});

test("media that are no longer stored become a text, or are left out of a response", () => {
  const gone = { inlineData: { mimeType: "image/png", data: "" } };
  const here = { inlineData: { mimeType: "image/png", data: "AAAA" } };
  const response = (...parts: (typeof gone)[]): Part => ({ functionResponse: { name: "a", parts } });
  const shown = (part: Part) => resumed([content(model(part))]).history[0]?.parts[0];
  expect(shown(gone)).toEqual({ text: "[image/png that is no longer stored]" });
  expect(shown({ inlineData: { data: "" } })).toEqual({ text: "[media that is no longer stored]" });
  expect(shown(here)).toEqual(here);
  expect(shown(response(here, here))).toEqual(response(here, here));
  expect(shown(response(gone, here, gone))).toEqual(response(here));
  expect(shown(response(gone))).toEqual({ functionResponse: { name: "a" } });
  const { history } = resumed([
    content(model(call("a"))),
    { type: "response", index: 0, part: response(gone), beside: [gone, here] },
  ]);
  expect(history.slice(1, 3)).toEqual([
    user({ functionResponse: { name: "a" } }),
    user({ text: "[image/png that is no longer stored]" }, here),
  ]);
});
