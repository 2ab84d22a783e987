import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { FinishReason, ModelEvent } from "../../src/model/model.ts";
import {
  brokenIn,
  calls,
  collect,
  type Desk,
  desk,
  outcomes,
  plays,
  responses,
  rules,
  says,
} from "../support/turn-desk.ts";

const trusted = (servers: object = {}): Promise<Desk> =>
  desk({ servers: (path) => ({ s: { ...stdioServer("counted", path("notes")), trust: true }, ...servers }) });

const ends = (reason: FinishReason, message?: string, text?: string): { events: readonly ModelEvent[] } => ({
  events: [
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    {
      type: "finish",
      reason,
      ...(message !== undefined && { message }),
      content: { role: "model", parts: text === undefined ? [] : [{ text }] },
    },
  ],
});

test("an answer that is cut or blocked says so, and a question that was blocked does not block the next", async () => {
  await using at = await trusted();
  const model = plays(ends("length", "as long as it may be", "Once upon"), ends("safety", "not that"), says("Hello."));
  const conversation = at.host.conversation({ model });
  const last = async (text: string): Promise<unknown> => (await collect(conversation.send(text))).slice(-2);
  expect(await last("a story")).toEqual([
    { type: "note", message: "as long as it may be" },
    { type: "done", reason: "length", text: "Once upon", denied: 0, calls: 0 },
  ]);
  expect(await last("something bad")).toEqual([
    { type: "note", message: "not that" },
    { type: "done", reason: "safety", text: "", denied: 0, calls: 0 },
  ]);
  await collect(conversation.send("hi"));
  expect(conversation.history.map(({ parts }) => parts[0]?.text)).toEqual(["a story", "Once upon", "hi", "Hello."]);
});

test("a model that cannot write its call down is asked twice more, then it is an error", async () => {
  await using at = await trusted();
  const recovers = plays(ends("malformed_call", "what?"), says("Sorry."));
  const events = await collect(at.host.conversation({ model: recovers }).send("go"));
  expect(events.slice(-3).map((event) => ("message" in event ? event.message : event.type))).toEqual([
    "what?; Fairlead asks the model again",
    "text",
    "done",
  ]);
  const never = plays(ends("malformed_call", "what?"));
  const conversation = at.host.conversation({ model: never });
  expect((await collect(conversation.send("go"))).at(-1)).toEqual({
    type: "error",
    error: new HostError("model", "what?"),
  });
  expect([never.requests.length, conversation.history]).toEqual([3, []]);
});

test("a question that the model could not be asked leaves no trace; what was done before it failed stays", async () => {
  await using at = await trusted();
  const fails = (): never => {
    throw new HostError("model", "no quota");
  };
  const model = plays(fails, calls("echo", { text: "1" }), fails, says("There."));
  const conversation = at.host.conversation({ model });
  const failed = { type: "error", error: new HostError("model", "no quota") };
  expect((await collect(conversation.send("one"))).at(-1)).toEqual(failed);
  expect(conversation.history).toEqual([]);
  expect((await collect(conversation.send("two"))).at(-1)).toEqual(failed);
  expect(conversation.history.map(({ role }) => role)).toEqual(["user", "model", "user"]);
  await collect(conversation.send("three"));
  expect(brokenIn(conversation.history)).toBeUndefined();
});

test("what the model's API tells is told on: thoughts, attempts and what it costs", async () => {
  await using at = await trusted();
  const told: readonly ModelEvent[] = [
    { type: "retry", attempt: 1, delayMs: 10, reason: "busy" },
    { type: "thought", text: "Hm." },
    { type: "usage", inputTokens: 1, outputTokens: 2 },
  ];
  const model = plays({ events: [...told, ...ends("stop", undefined, "Ja.").events] });
  const events = await collect(at.host.conversation({ model, servers: [] }).send("go"));
  expect(events.slice(0, 3)).toEqual(told);
});

test("a conversation has one turn at a time, and goes on where another run left it", async () => {
  await using at = await trusted();
  const cut = [
    { role: "user" as const, parts: [{ text: "before" }] },
    { role: "model" as const, parts: calls("echo", {}, "x") },
  ];
  const model = plays(says("one"));
  const conversation = at.host.conversation({ model, history: cut });
  expect(conversation.history.at(-1)).toEqual({
    role: "user",
    parts: [
      {
        functionResponse: {
          id: "x",
          name: "echo",
          response: { error: "The result of this call is not known: it may or may not have run." },
        },
      },
    ],
  });
  const first = conversation.send("one");
  await first.next();
  const [second] = await collect(conversation.send("two"));
  expect(second).toMatchObject({ type: "error", error: { code: "busy" } });
  await collect(first);
  expect(conversation.history.at(-1)).toEqual({ role: "model", parts: says("one") });
});

test("a tool can be taken out and put back, and is then neither shown nor called", async () => {
  await using at = await trusted();
  const model = plays(calls("echo", { text: "1" }), says("ok"), calls("echo", { text: "2" }), says("ok"));
  const conversation = at.host.conversation({ model });
  conversation.setTool("s", "echo", false);
  expect(outcomes(await collect(conversation.send("go")))).toEqual([["echo", "error", "tool_unknown"]]);
  expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["ask"], ["ask"]]);
  expect(model.requests[1] && responses(model.requests[1])).toEqual([
    ["echo", { error: '"echo" cannot be called: the user has disabled the tool' }],
  ]);
  expect(conversation.tools().map(({ name, enabled }) => [name, enabled])).toEqual([
    ["echo", false],
    ["ask", true],
  ]);
  conversation.setTool("s", "echo", true);
  expect(outcomes(await collect(conversation.send("go")))).toEqual([["echo", "ok"]]);
});

test("another model gets the schemas that its own API takes, and its arguments reach the server under its names", async () => {
  const tools = [
    { name: "odd", inputSchema: { type: "object", properties: { "a-b": { type: "string", format: "date-time" } } } },
  ];
  await using at = await desk({
    servers: (path) => ({ s: { ...stdioServer("counted", path("notes"), path("list")), trust: true } }),
  });
  await at.write("list", JSON.stringify(tools));
  const shown = (asked: { tools: readonly { parametersJsonSchema: object }[] } | undefined): string =>
    JSON.stringify(asked?.tools[0]?.parametersJsonSchema);
  const nameIn = (schema: string): string => /"properties":\{"([^"]+)"/.exec(schema)?.[1] ?? "";
  const callsIt = rules((asked, number) =>
    number % 2 === 0 ? calls("odd", { [nameIn(shown(asked))]: "x" }) : says("ok"),
  );
  const other = rules(
    (asked, number) => (number % 2 === 0 ? calls("odd", { [nameIn(shown(asked))]: "y" }) : says("ok")),
    {
      dialect: "openai",
    },
  );
  const conversation = at.host.conversation({ model: callsIt });
  await collect(conversation.send("go"));
  conversation.setModel(other);
  await collect(conversation.send("go"));
  expect([nameIn(shown(callsIt.requests[0])), nameIn(shown(other.requests[0]))]).toEqual(["a_b", "a-b"]);
  expect(shown(other.requests[0])).not.toContain('"format"');
  const arrived = await at.lines("notes");
  expect(arrived.filter((line) => line.startsWith("call"))).toEqual(['call odd {"a-b":"x"}', 'call odd {"a-b":"y"}']);
});

test("a picture stands inside the response that it belongs to", async () => {
  await using at = await desk({ servers: () => ({}), host: { approvalMode: "yolo" } });
  const model = plays([...calls("demo__picture"), ...calls("demo__greet", { name: "Ada" })], says("Nice."));
  const conversation = at.host.conversation({ model });
  const events = await collect(conversation.send("a picture"));
  expect(outcomes(events).map(([, status]) => status)).toEqual(["ok", "ok"]);
  const parts = conversation.history.at(-2)?.parts ?? [];
  expect(
    parts.map(({ functionResponse }) => functionResponse?.parts?.map(({ inlineData }) => inlineData?.mimeType)),
  ).toEqual([["image/png"], undefined]);
});

test("messages before the input keep their roles; without an answer they are removed with it", async () => {
  await using at = await desk({ servers: () => ({}) });
  const before = [
    { role: "user" as const, parts: [{ text: "You plan days." }] },
    { role: "model" as const, parts: [{ text: "I do." }] },
  ];
  const model = plays(says("Hello."), says("Planned."), ends("other", "broken"), ends("safety", "blocked"));
  const conversation = at.host.conversation({ model });
  await collect(conversation.send("Hi"));
  await collect(conversation.send("Plan it.", { before }));
  const history = conversation.history;
  expect(model.requests[1]?.messages.map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
    ["user", "Hi"],
    ["model", "Hello."],
    ["user", "You plan days."],
    ["model", "I do."],
    ["user", "Plan it."],
  ]);
  for (const type of ["error", "done"]) {
    const events = await collect(conversation.send("More.", { before }));
    expect(events.at(-1)).toMatchObject({ type });
    expect(conversation.history).toEqual(history);
  }
});
