import { stat, truncate, writeFile } from "node:fs/promises";
import { scaled, seed, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Model } from "../../src/model/model.ts";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { TurnEvent } from "../../src/turn/events.ts";
import { geminiScene, openaiScene } from "../support/model-legs.ts";
import { recordedConversationsOf } from "../support/recorded-conversations.ts";
import { brokenIn, calls, collect, type Desk, desk, outcomes, plays, says } from "../support/turn-desk.ts";

const demo = (fairlead: object = {}): Promise<Desk> =>
  desk({ servers: () => ({}), host: { approvalMode: "yolo" }, fairlead });

/** What a recorded conversation says of an event: a confirmation is a question, and nothing else. */
const plain = (events: readonly TurnEvent[]): unknown[] =>
  JSON.parse(JSON.stringify(events.filter(({ type }) => type !== "confirmation"))) as unknown[];

const changes = new Set(
  "input content response rewind compact model names offered tool title approval resumed".split(" "),
);

test("a conversation is recorded event by event, for its owner only, and goes on in another host", async () => {
  await using at = await demo();
  const { lines, fileOf } = recordedConversationsOf(at);
  const model = plays(
    [...calls("demo__picture", {}, "a"), ...calls("demo__greet", { name: "Ada" }, "b")],
    says("Hello."),
    says("Still here."),
  );
  // The first turn of a file loads many modules, which takes long on a busy machine.
  const conversation = at.host.conversation({ model, wait: 60_000 });
  const events = await collect(conversation.send("say hello"));
  expect(new Map(outcomes(events).map(([name, ...how]) => [name, how]))).toEqual(
    new Map([
      ["demo__picture", ["ok"]],
      ["demo__greet", ["ok"]],
    ]),
  );
  conversation.rename("Greetings");
  await conversation.close();

  const [head, ...rest] = await lines(conversation.id);
  expect(head).toEqual({
    v: 1,
    id: conversation.id,
    time: expect.any(String),
    workspace: at.path("home"),
    model: { provider: "scripted", name: "played" },
  });
  expect((await stat(fileOf(conversation.id))).mode & 0o777).toBe(0o600);
  const { readConversation } = await import("../../src/conversations/read-conversation.ts");
  const recorded = (await readConversation(fileOf(conversation.id))).lines.filter(({ type }) => !changes.has(type));
  expect(recorded.map(({ time: _time, ...event }) => event)).toEqual(plain(events));
  const picture = rest.find(({ type, status, name }) => type === "call" && status === "ok" && name === "demo__picture");
  expect(picture).toMatchObject({
    media: [{ mimeType: "image/png", digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });

  await using host = await at.again();
  expect(await host.conversations()).toMatchObject([
    {
      id: conversation.id,
      title: "Greetings",
      firstWords: "say hello",
      calls: 2,
      turns: 1,
      workspace: at.path("home"),
    },
  ]);
  const before = (await lines(conversation.id)).length;
  const resumed = await host.conversation({ resume: conversation.id.slice(0, -2), model });
  expect(resumed.history).toEqual(conversation.history);
  expect(resumed.title).toBe("Greetings");
  await collect(resumed.send("and now?"));
  await resumed.close();
  const added = (await lines(conversation.id)).slice(before).map(({ type }) => type);
  expect(added.join(" ")).toBe("resumed input waiting content text content done");
  expect(model.requests.at(-1)?.messages).toEqual([
    ...conversation.history,
    { role: "user", parts: [{ text: "and now?" }] },
  ]);
});

const apis: Readonly<Record<string, () => Promise<{ readonly model: Model }>>> = {
  "Gemini 3": () => geminiScene({}, { name: "gemini-3-pro-preview" }),
  "what speaks like OpenAI": () => openaiScene(),
};
const prompt = [
  "call demo__picture",
  'call demo__greet {"name":"Ada ⚓"}',
  "then",
  "call demo__fail",
  "then",
  "call nothing",
];

test.each(Object.entries(apis))("%s takes a conversation whose file ends at any byte", async (_name, open) => {
  await using at = await demo();
  const { fileOf, textOf, lines } = recordedConversationsOf(at);
  const { model } = await open();
  const first = at.host.conversation({ model });
  await collect(first.send(prompt.join("\n")));
  await first.close();
  const whole = Buffer.from(await textOf(first.id));
  const head = whole.indexOf("\n") + 1;
  const start = seed();
  const count = scaled(200, 6);
  for (let nth = 0; nth <= count; nth += 1) {
    const cut = nth === count ? whole.length : head + ((start + nth * 7919) % (whole.length - head));
    await writeFile(fileOf(first.id), whole.subarray(0, cut));
    const resumed = await at.host.conversation({ resume: first.id, model });
    const where = `seed ${start}, cut at ${cut}`;
    expect([where, brokenIn(resumed.history)]).toEqual([where, undefined]);
    const events = await collect(resumed.send("And now?"));
    expect([where, events.at(-1)]).toEqual([where, expect.objectContaining({ type: "done", reason: "stop" })]);
    await resumed.close();
    // What was whole is still there, and everything after it is whole too.
    const kept = whole.subarray(0, whole.subarray(0, cut).lastIndexOf("\n") + 1).toString();
    expect((await textOf(first.id)).startsWith(kept)).toBe(true);
    const again = await at.host.conversation({ resume: first.id, model });
    expect([where, again.history]).toEqual([where, resumed.history]);
    await again.close();
    expect((await lines(first.id)).filter(({ type }) => type === "resumed")).toHaveLength(2);
  }
});

test("a call without a response may or may not have run, and the model is told so", async () => {
  await using at = await demo();
  const { fileOf, textOf } = recordedConversationsOf(at);
  const names = ["Ada", "Grace"];
  const model = plays(
    names.flatMap((name) => calls("demo__greet", { name })),
    says("ok"),
  );
  const conversation = at.host.conversation({ model });
  await collect(conversation.send("greet"));
  await conversation.close();
  const text = await textOf(conversation.id);
  const second = text.lastIndexOf('"type":"response"');
  await truncate(fileOf(conversation.id), second);
  const resumed = await at.host.conversation({ resume: conversation.id, model });
  const told = resumed.history.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
  // The calls run side by side: either response may be the last one.
  const [lost = ""] = text.slice(second).split("\n", 1);
  const unknown = { error: "The result of this call is not known: it may or may not have run." };
  expect(told.map(({ response }) => response)).toEqual(
    names.map((name) => (lost.includes(name) ? unknown : { output: expect.stringContaining(name) })),
  );
});

test("approvals and disabled tools come back, in the workspace where they were given", async () => {
  const servers = (path: (name: string) => string) => ({ s: stdioServer("counted", path("notes")) });
  await using at = await desk({ servers });
  const model = plays(calls("echo", { text: "1" }), says("one"), calls("echo", { text: "2" }), says("two"));
  const conversation = at.host.conversation({ model });
  let asked = 0;
  const answering = (answer: ToolConfirmationOutcome) => ({
    on: (event: TurnEvent) => {
      if (event.type !== "confirmation") return;
      asked += 1;
      void event.details.onConfirm(answer);
    },
  });
  await collect(conversation.send("go"), answering(ToolConfirmationOutcome.ProceedAlwaysTool));
  conversation.setTool("s", "count", false);
  await at.host[Symbol.asyncDispose]();
  expect(asked).toBe(1);

  await using host = await at.again();
  const resumed = await host.conversation({ resume: conversation.id, model });
  const events = await collect(resumed.send("again"), answering(ToolConfirmationOutcome.Cancel));
  expect([asked, outcomes(events)]).toEqual([1, [["echo", "ok"]]]);
  expect(resumed.tools().find(({ serverToolName }) => serverToolName === "count")?.enabled ?? false).toBe(false);
  await host[Symbol.asyncDispose]();

  // In another workspace the approval is not given again.
  await at.write("elsewhere/a", "");
  await using elsewhere = await at.again({ workspace: at.path("elsewhere") });
  const there = await elsewhere.conversation({
    resume: conversation.id,
    model: plays(calls("echo", { text: "3" }), says("three")),
  });
  const denied = await collect(there.send("once more"), answering(ToolConfirmationOutcome.Cancel));
  expect([asked, outcomes(denied)]).toEqual([2, [["echo", "denied", "denied"]]]);
});

test("a conversation that is open cannot be resumed a second time, and its file is not removed", async () => {
  await using at = await demo();
  const { folder, names } = recordedConversationsOf(at);
  const model = plays(says("hello"));
  const conversation = at.host.conversation({ model });
  await collect(conversation.send("hi"));
  // Listing waits until the conversation is on disk.
  expect(await at.host.conversations()).toHaveLength(1);
  await using other = await at.again();
  await expect(other.conversation({ resume: conversation.id, model })).rejects.toMatchObject({
    code: "busy",
    message: expect.stringContaining("open in another process"),
  });
  const { removeConversation } = await import("../../src/conversations/list-conversations.ts");
  expect(await removeConversation(folder, conversation.id)).toBe(false);
  await conversation.close();
  const resumed = await other.conversation({ resume: conversation.id, model });
  await collect(resumed.send("me too"));
  // The first one notices that it was continued elsewhere, and goes on without being recorded.
  const failed: string[] = [];
  at.host.on("conversation_not_recorded", ({ message }) => failed.push(message));
  await resumed.close();
  expect((await collect(conversation.send("hi again"))).at(-1)).toMatchObject({ type: "done" });
  await conversation.close();
  expect(failed).toEqual([`the conversation ${conversation.id} was continued by another process`]);
  expect(await removeConversation(folder, conversation.id)).toBe(true);
  expect(await names()).toEqual([]);
});

test("nothing is recorded without a message, with recording: false, or after the host is closed", async () => {
  await using off = await demo({ recording: false });
  await collect(off.host.conversation({ model: plays(says("hello")) }).send("hi"));
  await off.host[Symbol.asyncDispose]();
  expect(await recordedConversationsOf(off).names()).toEqual([]);

  await using at = await demo();
  const silent = at.host.conversation({ model: plays(says("hello")) });
  silent.rename("nothing");
  await silent.close();
  expect(await recordedConversationsOf(at).names()).toEqual([]);
  const conversation = at.host.conversation({ model: plays(says("hello")) });
  await collect(conversation.send("hi"));
  await at.host[Symbol.asyncDispose]();
  const before = await recordedConversationsOf(at).textOf(conversation.id);
  await collect(conversation.send("anybody there?"));
  await conversation.close();
  expect(await recordedConversationsOf(at).textOf(conversation.id)).toBe(before);
});

test.each(["../../etc/passwd", "20260101-000000-aaaaaa", "", ".", "20260101-000000-aaaaaa/../x"])(
  "the id %j names no conversation",
  async (id) => {
    await using at = await demo();
    await expect(at.host.conversation({ resume: id, model: plays(says("hello")) })).rejects.toMatchObject({
      code: "not_found",
      next: "fairlead conversations",
    });
  },
);

test("compacted, the model is sent the summary, and the file keeps everything", async () => {
  await using at = await demo();
  const { lines } = recordedConversationsOf(at);
  const model = plays(
    calls("demo__greet", { name: "Ada" }),
    says("Hello, Ada."),
    says("We greeted Ada."),
    says("Yes."),
  );
  const conversation = at.host.conversation({ model });
  await collect(conversation.send("greet Ada"));
  await conversation.compact();
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("[calls demo__greet with ");
  await collect(conversation.send("did we?"));
  expect(model.requests.at(-1)?.messages.map(({ parts }) => parts[0]?.text)).toEqual([
    expect.stringMatching(/^Summarise our conversation/),
    "We greeted Ada.",
    "did we?",
  ]);
  await conversation.close();
  expect((await lines(conversation.id)).some(({ type, status }) => type === "call" && status === "ok")).toBe(true);
  const resumed = await at.host.conversation({ resume: conversation.id, model });
  expect(resumed.history).toEqual(conversation.history);
});

test("a definition that changed meanwhile is treated as changed, whatever was approved", async () => {
  const list = (description: string): object[] => [{ name: "pay", description, inputSchema: { type: "object" } }];
  await using at = await desk({
    servers: (path) => ({ s: stdioServer("counted", "", path("list.json")) }),
    host: { interactive: true },
  });
  await at.write("list.json", list("Pays once."));
  const model = plays(calls("pay", { text: "1" }), says("one"), calls("pay", { text: "2" }), says("two"));
  const conversation = at.host.conversation({ model });
  const always = { answer: ToolConfirmationOutcome.ProceedAlwaysTool };
  expect(outcomes(await collect(conversation.send("pay"), always))).toEqual([["pay", "ok"]]);
  await at.host[Symbol.asyncDispose]();
  await at.write("list.json", list("Pays twice."));
  await using host = await at.again();
  const resumed = await host.conversation({ resume: conversation.id, model });
  const changes: unknown[] = [];
  await collect(resumed.send("again"), {
    on: (event) => {
      if (event.type !== "confirmation") return;
      changes.push(event.details.change);
      void event.details.onConfirm(ToolConfirmationOutcome.Cancel);
    },
  });
  expect(changes).toEqual([[expect.objectContaining({ before: "Pays once.", after: "Pays twice." })]]);
});
