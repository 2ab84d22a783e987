import { expect, test } from "vitest";
import type { ConversationFile } from "../../src/conversations/conversation-file.ts";
import { createConversationRecorder } from "../../src/conversations/conversation-recorder.ts";
import type { ConversationHead } from "../../src/conversations/format.ts";
import { HostError } from "../../src/errors.ts";
import type { Content, Part } from "../../src/normalise/model-types.ts";

const time = "1970-01-01T00:00:01.000Z";
const head: ConversationHead = {
  v: 1,
  id: "20260131-093000-a1b2c3",
  time,
  workspace: "/w",
  model: { provider: "p", name: "m" },
};

/** A recorder whose file is in memory. Results of the server "private" are hidden, and so is the word "secret". */
function recorder({ isResumed = false, isBroken = false } = {}) {
  const batches: string[][] = [];
  const opened: (number | undefined)[] = [];
  const failures: unknown[] = [];
  let closed = 0;
  let size = isResumed ? 100 : 0;
  const file: ConversationFile = {
    size: () => size,
    async append(lines) {
      if (isBroken) throw new Error("no space");
      batches.push(lines.map(({ text }) => text));
      size += lines.length;
    },
    async close() {
      closed += 1;
    },
  };
  const created = createConversationRecorder({
    head,
    workspace: "/now",
    ...(isResumed && { resumed: file }),
    async open(before) {
      opened.push(before);
      return file;
    },
    hide: async () => (text) => text.replaceAll("secret", "(hidden)"),
    hidesResults: (server) => server === "private",
    now: () => 1000,
    onFailed: (error) => failures.push(error),
  });
  const lines = (): unknown[] => batches.flat().map((text) => JSON.parse(text) as unknown);
  return { ...created, lines, batches, opened, failures, closed: () => closed };
}

const input = { type: "input", text: "hi" } as const;
const text = (words: string) => ({ type: "text", text: words }) as const;
const timed = (...changes: readonly object[]) => changes.map((change) => ({ time, ...change }));

test("the file begins with the first message, and then has all that was before it", async () => {
  const { record, approve, whenSaved, close, lines, batches, opened, closed } = recorder();
  const approval = { server: "s", kind: "reads", fingerprint: "f" } as const;
  record({ type: "title", title: "a" });
  approve(approval);
  await whenSaved();
  expect(opened).toEqual([]);
  record(input);
  await whenSaved();
  expect(batches).toHaveLength(1);
  expect(lines()).toEqual([head, ...timed({ type: "title", title: "a" }, { type: "approval", approval }, input)]);
  record({ type: "note", message: "a" });
  record({ type: "note", message: "b" });
  await whenSaved();
  expect(batches[1]?.map((line) => JSON.parse(line) as unknown)).toEqual(
    timed({ type: "note", message: "a" }, { type: "note", message: "b" }),
  );
  expect([opened, closed()]).toEqual([[undefined], 0]);
  await close();
  expect(closed()).toBe(1);
});

test("closed, the file is opened again at its size by the next change", async () => {
  const { record, whenSaved, close, opened, closed, batches } = recorder();
  record(input);
  await close();
  await close();
  expect([opened, closed()]).toEqual([[undefined], 1]);
  record({ type: "note", message: "later" });
  await whenSaved();
  expect([opened, batches.length]).toEqual([[undefined, 2], 2]);
  await close();
  expect(closed()).toBe(2);
});

test("without a message, closing writes nothing", async () => {
  const { record, close, opened, closed } = recorder();
  record({ type: "title", title: "a" });
  record(text("a"));
  await close();
  expect([opened, closed()]).toEqual([[], 0]);
});

test("a resumed conversation says so at once, without a second head", async () => {
  const { whenSaved, close, lines, opened } = recorder({ isResumed: true });
  await whenSaved();
  expect(lines()).toEqual(timed({ type: "resumed", workspace: "/now" }));
  await close();
  expect(opened).toEqual([]);
});

test("pieces of a text are written one by one, but together if a secret is split between them", async () => {
  const { record, close, lines } = recorder();
  const thought = { type: "thought", text: "t" } as const;
  const pieces = [text("a"), text("b"), thought, thought, text("it is sec"), text("ret"), text("!")];
  record(input);
  for (const piece of pieces) record(piece);
  record({ type: "note", message: "between" });
  record(text("the secret"));
  await close();
  expect(lines().slice(1)).toEqual(
    timed(
      input,
      ...pieces.slice(0, 4),
      text("it is (hidden)!"),
      { type: "note", message: "between" },
      text("the (hidden)"),
    ),
  );
});

test("an error is written with its code, message and next step; a confirmation is not written", async () => {
  const { record, close, lines } = recorder();
  record(input);
  record({ type: "confirmation", id: "1", details: {} as never });
  record({ type: "error", error: new HostError("usage", "no", { next: "do this" }) });
  record({ type: "error", error: new HostError("internal", "broken") });
  await close();
  expect(lines().slice(2)).toEqual(
    timed(
      { type: "error", error: { code: "usage", message: "no", next: "do this" } },
      { type: "error", error: { code: "internal", message: "broken" } },
    ),
  );
});

test("a failure is reported once, and nothing more is written", async () => {
  const { record, approve, whenSaved, close, failures, batches, opened } = recorder({ isBroken: true });
  record(input);
  await whenSaved();
  record(input);
  approve({ server: "s", kind: "reads", fingerprint: "f" });
  await whenSaved();
  await close();
  expect(failures).toEqual([new Error("no space")]);
  expect([batches, opened]).toEqual([[], [undefined]]);
});

/** What is written of these changes. */
async function written(...changes: Parameters<ReturnType<typeof recorder>["record"]>[0][]): Promise<unknown[]> {
  const { record, close, lines } = recorder();
  record(input);
  for (const change of changes) record(change);
  await close();
  return lines().slice(2);
}

const response = (name: string, output: string): Part => ({
  functionResponse: { id: "i", name, response: { output } },
});

test("the results of a server whose results are hidden are not written; those of others are", async () => {
  const call = { type: "call", id: "1", name: "t", args: { a: 1 }, status: "ok", display: "d" } as const;
  const full = {
    ...call,
    error: { code: "usage", message: "m", next: "n" },
    files: ["f"],
    media: [{ mimeType: "image/png", data: "*" }],
  } as const;
  const progress = { type: "progress", id: "1", progress: 1, total: 2, message: "m" } as const;
  const answered = { type: "response", index: 0, part: response("t", "out"), beside: [{ text: "b" }] } as const;
  for (const server of [{ server: "public" }, {}])
    expect(await written({ ...full, ...server }, progress, { ...answered, ...server })).toEqual(
      timed({ ...full, ...server }, progress, { ...answered, ...server }),
    );
  const server = { server: "private" };
  const { display: _display, ...running } = call;
  const { message: _message, ...silent } = progress;
  expect(
    await written(
      { ...running, ...server },
      progress,
      { ...progress, id: "2" },
      { ...full, ...server },
      { ...answered, ...server },
    ),
  ).toEqual(
    timed(
      { ...running, ...server },
      silent,
      { ...progress, id: "2" },
      { ...call, ...server, display: "(hidden)", error: { code: "usage", message: "(hidden)" } },
      { type: "response", index: 0, part: response("t", "(hidden)"), ...server },
    ),
  );
});

test("hidden results are hidden in compacted messages too", async () => {
  const contents: Content[] = [
    { role: "user", parts: [response("t", "out"), response("u", "out"), { text: "a" }] },
    { role: "model", parts: [{ text: "b" }] },
  ];
  const answered = { type: "response", index: 0, part: response("t", "out"), server: "private" } as const;
  const [, compacted] = await written(answered, { type: "compact", contents });
  expect(compacted).toEqual({
    time,
    type: "compact",
    contents: [{ role: "user", parts: [response("t", "(hidden)"), response("u", "out"), { text: "a" }] }, contents[1]],
  });
});

test("a resource of a server whose results are hidden is left out of the user's message, up to its end", async () => {
  const parts = (server: string): Part[] => [
    { text: `[a.txt, a resource of the MCP server "${server}":]` },
    { text: "<untrusted_context_1>" },
    { text: "content" },
    { text: "</untrusted_context_1>" },
  ];
  const message = (...all: Part[]) => ({ type: "content", content: { role: "user", parts: all } }) as const;
  const [first, , , end] = parts("private") as [Part, Part, Part, Part];
  const whole = [{ text: "look" }, ...parts("public"), ...parts("private"), { text: "after" }];
  expect(await written(message(...whole))).toEqual(
    timed(message({ text: "look" }, ...parts("public"), first, { text: "(hidden)" }, { text: "after" })),
  );
  const single = message(first);
  const said: Content = { role: "model", parts: [first, end] };
  const model = { type: "content", content: said } as const;
  expect(await written(single, model)).toEqual(timed(single, model));
});
