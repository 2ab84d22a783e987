import { describe, expect, test } from "vitest";
import type { Content, Part } from "../../src/normalise/model-types.ts";
import { estimateTokens } from "../../src/text/token-estimate.ts";
import type { ConversationChange } from "../../src/turn/conversation.ts";
import {
  addContents,
  answerOpenCalls,
  answerText,
  beginsWith,
  callsIn,
  type History,
  isUnanswered,
  replaceHistory,
  responseContents,
  rewind,
  tokensOfHistory,
  toResponse,
} from "../../src/turn/history.ts";

const user = (...parts: Part[]): Content => ({ role: "user", parts });
const model = (...parts: Part[]): Content => ({ role: "model", parts });
const [hello, hi, more] = [user({ text: "hello" }), model({ text: "hi" }), user({ text: "more" })];
const call = (name: string, id?: string): Part => ({ functionCall: { name, ...(id !== undefined && { id }) } });
const response = (name: string): Part => ({ functionResponse: { name, response: { output: "done" } } });
const notKnown = { error: "The result of this call is not known: it may or may not have run." };

/** A conversation whose recorder only collects the changes. */
function owner(history: History) {
  const changes: unknown[] = [];
  return { history, changes, record: (change: unknown): void => void changes.push(change) };
}

const recorded = (...changes: ConversationChange[]): unknown[] => changes;

describe("of a message", () => {
  test("the calls are read in order, without the other parts", () => {
    const calls = callsIn(model({ text: "a" }, call("one", "1"), { text: "b" }, call("two")));
    expect(calls).toEqual([{ name: "one", id: "1" }, { name: "two" }]);
  });

  test("the answer is all text but the thoughts", () => {
    const parts = [{ text: "a" }, { text: "hm", thought: true }, call("x"), { text: "b", thought: false }];
    expect(answerText(model(...parts))).toBe("ab");
  });
});

describe("messages are added", () => {
  test("in order, each recorded, but a model's message without parts is not", () => {
    const at = owner([hello]);
    addContents(at, hi, model(), user());
    expect(at.history).toEqual([hello, hi, user()]);
    expect(at.changes).toEqual(recorded({ type: "content", content: hi }, { type: "content", content: user() }));
  });

  test("without a new history when there is nothing to add", () => {
    const before = [hello];
    const at = owner(before);
    addContents(at, model());
    expect(at.history).toBe(before);
    expect(at.changes).toEqual([]);
  });
});

describe("an earlier history is restored", () => {
  test("without a record when nothing changed", () => {
    const before = [hello, hi];
    const at = owner(before);
    rewind(at, before);
    expect(at.changes).toEqual([]);
  });

  test("by its length when messages were only added", () => {
    const before = [hello];
    const at = owner([hello, hi]);
    rewind(at, before);
    expect(at.history).toBe(before);
    expect(at.changes).toEqual(recorded({ type: "rewind", to: 1 }));
  });

  test("as a whole when the messages were replaced", () => {
    const before = [hello, hi];
    const at = owner([more]);
    rewind(at, before);
    expect(at.history).toBe(before);
    expect(at.changes).toEqual(recorded({ type: "compact", contents: before }));
  });
});

test("a replaced history is recorded", () => {
  const at = owner([hello, hi]);
  replaceHistory(at, [more]);
  expect(at.history).toEqual([more]);
  expect(at.changes).toEqual(recorded({ type: "compact", contents: [more] }));
});

test.each<[string, History, History, boolean]>([
  ["the same messages", [hello, hi], [hello, hi], true],
  ["more messages", [hello, hi, more], [hello, hi], true],
  ["fewer messages", [hello], [hello, hi], false],
  ["another last message", [hello, more], [hello, hi], false],
  ["an equal message that is another object", [{ ...hello }], [hello], false],
  ["any message, if the beginning is empty", [hello], [], true],
])("a history with %s", (_what, history, beginning, expected) => {
  expect(beginsWith(history, beginning)).toBe(expected);
});

describe("the tokens of a history", () => {
  const output = { output: "alpha beta gamma" };
  const ofOutput = estimateTokens(JSON.stringify(output));
  const media: Part = { inlineData: { mimeType: "image/png", data: "QUJD" } };

  test.each<[string, Part, { readonly total: number; readonly results: number }]>([
    ["a text", { text: "one two three" }, { total: 3, results: 0 }],
    [
      "a call, by its name and arguments",
      { functionCall: { name: "look", args: { at: "sky" } } },
      { total: estimateTokens('["look",{"at":"sky"}]'), results: 0 },
    ],
    [
      "a response, which is also a result",
      { functionResponse: { name: "look", response: output } },
      { total: ofOutput, results: ofOutput },
    ],
    ["a picture", media, { total: 300, results: 0 }],
    [
      "a response with two pictures",
      { functionResponse: { name: "look", response: output, parts: [{ inlineData: {} }, { inlineData: {} }] } },
      { total: ofOutput + 600, results: ofOutput },
    ],
    ["a response without contents", { functionResponse: { name: "look" } }, { total: 0, results: 0 }],
  ])("are those of %s", (_what, part, expected) => {
    expect(tokensOfHistory([user(part)])).toEqual(expected);
  });

  test("are the sum of all parts and messages, however often they are counted", () => {
    const result: Part = { functionResponse: { name: "look", response: output } };
    const history = [user({ text: "one two" }, media), model({ text: "three" }), user(result, result)];
    const expected = { total: 2 + 300 + 1 + 2 * ofOutput, results: 2 * ofOutput };
    expect(tokensOfHistory(history)).toEqual(expected);
    expect(tokensOfHistory(history)).toEqual(expected);
  });

  test("of no messages are none", () => {
    expect(tokensOfHistory([])).toEqual({ total: 0, results: 0 });
  });
});

test.each<[string, History, boolean]>([
  ["no message", [], false],
  ["a message of the user", [hi, hello], true],
  ["an answer", [hello, hi], false],
  ["responses to calls", [model(call("x")), user(response("x"))], false],
  ["a text before a response", [user({ text: "a" }, response("x"))], false],
])("whether a history that ends with %s is unanswered", (_what, history, expected) => {
  expect(isUnanswered(history)).toBe(expected);
});

describe("open calls", () => {
  const open = model(call("one", "1"), call("two"));
  const answers = user(
    { functionResponse: { id: "1", name: "one", response: notKnown } },
    { functionResponse: { name: "two", response: notKnown } },
  );

  test.each<[string, History, History]>([
    ["at the end are answered as not known", [hello, open], [hello, open, answers]],
    ["before another message of the user are answered before it", [open, more, hi], [open, answers, more, hi]],
    [
      "that have responses stay",
      [open, user({ text: "a" }, response("one"))],
      [open, user({ text: "a" }, response("one"))],
    ],
    ["in a message that is not the model's stay", [user(call("one"))], [user(call("one"))]],
  ])("%s", (_what, history, expected) => {
    expect(answerOpenCalls(history)).toEqual(expected);
  });
});

describe("the responses to the calls of one message", () => {
  const calls = [{ name: "one", id: "1" }, { name: "two" }];

  test("keep the order of the calls, and a missing one is not known", () => {
    const part = response("two");
    expect(responseContents(calls, [undefined, { part, beside: [] }])).toEqual([
      user({ functionResponse: { id: "1", name: "one", response: notKnown } }, part),
    ]);
  });

  test("have their media in a message of its own", () => {
    const [one, two] = [response("one"), response("two")];
    const [image, sound] = [{ inlineData: { mimeType: "image/png" } }, { inlineData: { mimeType: "audio/wav" } }];
    const responses = [
      { part: one, beside: [image] },
      { part: two, beside: [sound] },
    ];
    expect(responseContents(calls, responses)).toEqual([user(one, two), user(image, sound)]);
  });

  test.each<[string, Part, Part]>([
    [
      "with the call's id",
      toResponse({ id: "7", name: "a" }, { output: 1 }),
      { functionResponse: { id: "7", name: "a", response: { output: 1 } } },
    ],
    [
      "without an id or a name if the call has none",
      toResponse({}, { output: 1 }),
      { functionResponse: { name: "", response: { output: 1 } } },
    ],
    [
      "with its media, and only these",
      toResponse({ name: "a" }, {}, [{ text: "x", inlineData: { mimeType: "image/png", data: "QUJD" } }, {}]),
      {
        functionResponse: {
          name: "a",
          response: {},
          parts: [{ inlineData: { mimeType: "image/png", data: "QUJD" } }, { inlineData: {} }],
        },
      },
    ],
  ])("are made %s", (_what, made, expected) => {
    expect(made).toEqual(expected);
  });
});
