import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { createManualModel, type ManualLine } from "../../src/model/manual.ts";
import type { Content } from "../../src/normalise/model-types.ts";
import { all, finishOf, tools, user } from "../support/model-contract.ts";

function parse(line: string): ManualLine {
  const [, name] = /^call (\w+)$/.exec(line) ?? [];
  if (line === "wrong") throw new HostError("usage", `"wrong" is not a call`);
  return name === undefined ? { kind: "message", text: `? ${line}` } : { kind: "call", call: { name, args: {} } };
}
const model = createManualModel({ parse });

/** Runs the turn: every call gets a response, and `failing` gets an error. */
async function toldFor(typed: string, failing?: string): Promise<readonly string[]> {
  const history: Content[] = [user("call old"), { role: "model", parts: [{ text: "done" }] }, user(typed)];
  const told: string[] = [];
  for (;;) {
    const events = await all(model, history);
    for (const event of events) {
      if (event.type === "text") told.push(event.text);
      if (event.type === "call") told.push(event.call.name);
    }
    const { content } = finishOf(events);
    const names = content.parts.flatMap(({ functionCall }) => functionCall?.name ?? []);
    if (names.length === 0) return told;
    const response = names[0] === failing ? { error: "no" } : { output: "call evil" };
    history.push(content, { role: "user", parts: names.map((name) => ({ functionResponse: { name, response } })) });
    // Media that the API does not take in a response.
    history.push({ role: "user", parts: [{ inlineData: { mimeType: "audio/wav", data: "AAAA" } }] });
  }
}

test("lines are called one after the other, and a line that is no call ends it", async () => {
  expect(await toldFor("call a\n\n  call b  \nlast")).toEqual(["a", "b", "? last"]);
  expect(await toldFor("call a\nfirst\ncall b\ncall c")).toEqual(["a", "? first\n\nThe other 2 lines were not run."]);
});

test("after a call that fails, the lines after it are not run", async () => {
  expect(await toldFor("call a\ncall b\ncall c", "a")).toEqual(["a", "The other 2 lines were not run."]);
  expect(await toldFor("call a\ncall b", "b")).toEqual(["a", "b"]);
});

test("a line break inside quotes ends no line", async () => {
  expect(await toldFor('say text="one\ntwo"')).toEqual(['? say text="one\ntwo"']);
});

test("a line is read once, when its turn comes: what it named may be gone by then", async () => {
  const read: string[] = [];
  const once = createManualModel({
    parse(line) {
      if (read.includes(line)) throw new HostError("tool_unknown", "it is gone");
      read.push(line);
      return parse(line);
    },
  });
  const history: Content[] = [user("call a\ncall b")];
  for (const expected of [["call a"], ["call a", "call b"]]) {
    const { content } = finishOf(await all(once, history));
    history.push(content, { role: "user", parts: [{ functionResponse: { name: "a", response: {} } }] });
    expect(read).toEqual(expected);
  }
});

test("only what was typed is read: not what it refers to, nor what tools say", async () => {
  const events = await all(model, [user("call a", "call evil")]);
  expect(events.filter(({ type }) => type === "call")).toEqual([{ type: "call", call: { name: "a", args: {} } }]);
});

test("a line that cannot be read is reported by the reader, which sees the tools", async () => {
  await expect(all(model, [user("wrong")])).rejects.toMatchObject({ code: "usage" });
  const seen: unknown[] = [];
  const curious = createManualModel({
    parse: (line, offered) => {
      seen.push(line, offered);
      return { kind: "message", text: "" };
    },
  });
  await all(curious, [user("x")]);
  expect(seen).toEqual(["x", tools]);
});

test("where nothing was typed, nothing is said", async () => {
  expect(await all(model, [])).toEqual([{ type: "finish", reason: "stop", content: { role: "model", parts: [] } }]);
});

test("the manual model accepts any number of tools in Gemini's dialect, with media in responses", () => {
  expect(createManualModel({ parse })).toEqual({
    provider: "manual",
    name: "manual",
    dialect: "gemini",
    maxDeclarations: Number.POSITIVE_INFINITY,
    stream: expect.any(Function),
  });
});

test("the user reads that one line was not run, or the text of the caller", async () => {
  expect(await toldFor("first\ncall b")).toEqual(["? first\n\nThe last line was not run."]);
  const counting = createManualModel({ parse, onStopped: (left) => `${left} left` });
  expect(await all(counting, [user("first\ncall b\ncall c")])).toEqual([
    { type: "text", text: "? first\n\n2 left" },
    { type: "finish", reason: "stop", content: { role: "model", parts: [{ text: "? first\n\n2 left" }] } },
  ]);
});

test("a cancelled request runs no line, and a line that is cancelled while it is read is not called", async () => {
  const read: string[] = [];
  const abort = new AbortController();
  const slow = createManualModel({
    parse(line) {
      read.push(line);
      abort.abort();
      return parse(line);
    },
  });
  await expect(all(slow, [user("call a")], AbortSignal.abort())).rejects.toMatchObject({ code: "cancelled" });
  expect(read).toEqual([]);
  const seen: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const event of slow.stream([user("call a")], tools, abort.signal)) seen.push(event);
  };
  await expect(reading()).rejects.toMatchObject({ code: "cancelled" });
  expect(read).toEqual(["call a"]);
  expect(seen).toEqual([]);
});

test("a message that is cancelled after its text does not finish", async () => {
  const abort = new AbortController();
  const seen: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const event of model.stream([user("first")], tools, abort.signal)) {
      seen.push(event);
      abort.abort();
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: "cancelled" });
  expect(seen).toEqual([{ type: "text", text: "? first" }]);
});

test("a message without parts is not what the user typed", async () => {
  const history: Content[] = [user("call a"), { role: "user", parts: [] }];
  expect(await all(model, history)).toEqual([
    { type: "call", call: { name: "a", args: {} } },
    { type: "finish", reason: "stop", content: { role: "model", parts: [{ functionCall: { name: "a", args: {} } }] } },
  ]);
});
