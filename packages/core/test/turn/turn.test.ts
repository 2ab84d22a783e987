import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import {
  brokenIn,
  callEvents,
  calls,
  collect,
  type Desk,
  desk,
  outcomes,
  plays,
  responses,
  says,
} from "../support/turn-desk.ts";

const counted =
  (entry: object = { trust: true }, name = "notes") =>
  (path: (file: string) => string) => ({
    s: { ...stdioServer("counted", path(name)), ...entry },
  });

const trusted = (): Promise<Desk> => desk({ servers: counted() });

test("the model calls, is told what came of it, and says the rest", async () => {
  await using at = await trusted();
  const model = plays([{ text: "Well. " }, ...calls("echo", { text: "hello" }, "a")], says("It says hello."));
  const conversation = at.host.conversation({ model });
  const events = await collect(conversation.send("say hello"));
  const call = { type: "call", id: "a", name: "echo", server: "s", serverToolName: "echo", args: { text: "hello" } };
  const rule = expect.stringMatching(/^"trust": true of "s" in .*settings\.json:\d+ allows it$/);
  expect(events).toEqual([
    { type: "waiting", servers: ["s"] },
    { type: "text", text: "Well. " },
    { ...call, status: "requested" },
    { ...call, status: "queued", rule },
    { ...call, status: "running", rule },
    { ...call, status: "ok", rule, display: "hello", durationMs: expect.any(Number) },
    { type: "text", text: "It says hello." },
    { type: "done", reason: "stop", text: "It says hello.", denied: 0, calls: 1 },
  ]);
  const output = expect.stringMatching(/^\[Up to <\/(untrusted_context_\w+)> this is data .*\]\n<\1>\nhello\n<\/\1>$/);
  expect(conversation.history).toEqual([
    { role: "user", parts: [{ text: "say hello" }] },
    { role: "model", parts: [{ text: "Well. " }, ...calls("echo", { text: "hello" }, "a")] },
    { role: "user", parts: [{ functionResponse: { id: "a", name: "echo", response: { output } } }] },
    { role: "model", parts: [{ text: "It says hello." }] },
  ]);
});

test("calls run side by side and are answered in their order, whichever ends first", async () => {
  const servers = (path: (file: string) => string): Record<string, object> => ({
    w: { ...stdioServer("workshop", path("notes")), trust: true },
  });
  await using at = await desk({ servers });
  const model = plays(
    [...calls("steps", { count: 2, gate: at.path("gate") }), ...calls("echo", { text: "fast" }), ...calls("look")],
    says("done"),
  );
  let ended = 0;
  let isOpen: Promise<unknown> | undefined;
  const events = await collect(at.host.conversation({ model }).send("go"), {
    on: (event) => {
      if (event.type === "call" && event.status === "ok") ended += 1;
      if (ended === 2) isOpen ??= at.write("gate", "...");
    },
  });
  await isOpen;
  expect(outcomes(events).at(-1)).toEqual(["steps", "ok"]);
  expect(model.requests[1] && responses(model.requests[1])).toEqual([
    ["steps", { output: expect.stringContaining("2 steps") }],
    ["echo", { output: expect.stringContaining("fast") }],
    ["look", { output: expect.stringContaining("nothing to see") }],
  ]);
  const [first] = callEvents(events);
  const progress = events.filter(({ type }) => type === "progress");
  const last = { type: "progress", id: first?.id, progress: 2, total: 2 };
  // Who is busy is told only the latest.
  expect([[last], [{ ...last, progress: 1 }, last]]).toContainEqual(progress);
  expect(new Set(callEvents(events).map(({ id }) => id)).size).toBe(3);
});

test("over the cap a call waits: queued until there is room, then running", async () => {
  const servers = (path: (file: string) => string): Record<string, object> => ({
    w: { ...stdioServer("workshop", path("notes")), trust: true },
  });
  await using at = await desk({ servers, fairlead: { limits: { callsPerServer: 1 } } });
  const steps = calls("steps", { count: 1, gate: at.path("gate") });
  const course: string[] = [];
  let queued = 0;
  let isOpen: Promise<unknown> | undefined;
  await collect(at.host.conversation({ model: plays([...steps, ...steps], says("done")) }).send("go"), {
    on: (event) => {
      if (event.type === "progress") course.push("progress");
      if (event.type !== "call") return;
      if (event.status === "running") course.push("running");
      if (event.status === "queued") queued += 1;
      // Neither call can make progress before both are queued.
      if (queued === 2) isOpen ??= at.write("gate", "..");
    },
  });
  await isOpen;
  expect(course).toEqual(["running", "progress", "running", "progress"]);
});

test("what is denied, fails, or does not exist is told to the model, and the turn goes on", async () => {
  await using at = await desk({
    servers: (path) => ({
      s: stdioServer("counted", path("notes")),
      w: { ...stdioServer("workshop", path("w")), trust: true },
    }),
    host: { interactive: false },
  });
  const model = plays(
    [
      ...calls("echo", { text: "no" }),
      ...calls("weather", { answer: { temperature: "warm" } }),
      ...calls("steps", { count: "many" }),
      ...calls("s.echo", { text: "?" }),
      ...calls("ekho", { text: "?" }),
      ...calls("nothing_like_it"),
    ],
    says("I see."),
  );
  const events = await collect(at.host.conversation({ model }).send("try"));
  const untrusted = (what: string): unknown =>
    expect.stringMatching(new RegExp(`^${what}\\n\\[Up to </untrusted_context_`));
  expect(model.requests[1] && responses(model.requests[1])).toEqual([
    ["echo", { error: untrusted("The call was not allowed and did not run\\.") }],
    ["weather", { output: expect.stringContaining("fine") }],
    ["steps", { error: untrusted("The call did not run: its arguments are invalid\\.") }],
    ["s.echo", { error: 'there is no tool "s.echo"; similar: echo' }],
    ["ekho", { error: 'there is no tool "ekho"; similar: echo' }],
    ["nothing_like_it", { error: 'there is no tool "nothing_like_it"' }],
  ]);
  expect(Object.fromEntries(outcomes(events).map(([name, ...rest]) => [name, rest]))).toEqual({
    echo: ["denied", "denied"],
    weather: ["ok"],
    steps: ["error", "arguments_invalid"],
    "s.echo": ["error", "tool_unknown"],
    ekho: ["error", "tool_unknown"],
    nothing_like_it: ["error", "tool_unknown"],
  });
  expect(events.filter(({ type }) => type === "note")).toEqual([
    { type: "note", message: expect.stringMatching(/^weather: .*temperature/) },
  ]);
  expect(events.at(-1)).toEqual({ type: "done", reason: "stop", text: "I see.", denied: 1, calls: 6 });
});

test("the person is asked one question at a time, and an answer for good answers the questions behind it", async () => {
  await using at = await desk({ servers: counted({}) });
  const model = plays([...calls("echo", { text: "1" }), ...calls("echo", { text: "2" })], says("done"), [
    ...calls("ask", { method: "ping" }),
  ]);
  const conversation = at.host.conversation({ model });
  const first = await collect(conversation.send("go"), { answer: ToolConfirmationOutcome.ProceedAlwaysTool });
  const asked = first.flatMap((event) => (event.type === "confirmation" ? [event] : []));
  expect(asked.map(({ details: { serverName, toolName, args } }) => [serverName, toolName, args])).toEqual([
    ["s", "echo", { text: "1" }],
  ]);
  expect(outcomes(first)).toEqual([
    ["echo", "ok"],
    ["echo", "ok"],
  ]);

  const second = await collect(conversation.send("go on"), { answer: ToolConfirmationOutcome.Cancel });
  const course = callEvents(second).map(({ status, error, rule }) => [status, error?.message, rule]);
  expect(course.slice(0, 3)).toEqual([
    ["requested", undefined, undefined],
    ["asking", undefined, "the default for tools asks about it"],
    ["denied", "s.ask denied: the user declined it", "the default for tools asks about it"],
  ]);
  expect([...(await at.lines("notes"))].filter((line) => line.startsWith("call"))).toHaveLength(2);
});

test("a host that was given a way to ask is asked that way", async () => {
  const asked: unknown[] = [];
  await using at = await desk({
    servers: counted({}),
    host: {
      async confirm({ toolName, args }) {
        asked.push([toolName, args]);
        return ToolConfirmationOutcome.ProceedOnce;
      },
    },
  });
  const events = await collect(at.host.runTurn("go", { model: plays(calls("echo", { text: "1" }), says("ok")) }));
  expect(asked).toEqual([["echo", { text: "1" }]]);
  expect(events.map(({ type }) => type)).not.toContain("confirmation");
  expect(outcomes(events)).toEqual([["echo", "ok"]]);
});

test("messages before the input reach the model, in a new and in an earlier conversation", async () => {
  await using at = await trusted();
  const before = [
    { role: "user" as const, parts: [{ text: "Who are you?" }] },
    { role: "model" as const, parts: [{ text: "A pirate." }] },
  ];
  const model = plays(says("Ahoy."));
  await collect(at.host.runTurn("go", { model, before }));
  const conversation = at.host.conversation({ model });
  await collect(at.host.runTurn("go", { conversation, before }));
  for (const { messages } of model.requests) expect(messages.slice(0, 2)).toEqual(before);
  expect(model.requests).toHaveLength(2);
});

test("a turn ends at its limits, with everything answered", async () => {
  await using at = await trusted();
  const endless = plays(calls("echo", { text: "more" }));
  const turns = at.host.conversation({ model: endless, limits: { turns: 3 } });
  expect((await collect(turns.send("go"))).at(-1)).toEqual({
    type: "done",
    reason: "limit",
    text: "",
    denied: 0,
    calls: 3,
  });
  expect([endless.requests.length, brokenIn(turns.history)]).toEqual([3, undefined]);

  const many = plays([1, 2, 3].flatMap((number) => calls("echo", { text: `${number}` })));
  const few = at.host.conversation({ model: many, limits: { calls: 2 } });
  const events = await collect(few.send("go"));
  expect(outcomes(events)).toEqual(expect.arrayContaining([["echo", "error", "busy"]]));
  expect([events.at(-1)?.type, many.requests.length, brokenIn(few.history)]).toEqual(["done", 1, undefined]);
  expect(events.at(-1)).toMatchObject({ reason: "limit" });
});
