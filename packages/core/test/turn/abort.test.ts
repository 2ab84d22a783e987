import { readFileSync } from "node:fs";
import { scaled, seed, stdioServer, until } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Part } from "../../src/normalise/model-types.ts";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { TurnEvent } from "../../src/turn/events.ts";
import { brokenIn, calls, collect, type Desk, desk, outcomes, plays, rules, says } from "../support/turn-desk.ts";

const cancelled = (text = "", count = 0): TurnEvent => ({
  type: "done",
  reason: "cancelled",
  text,
  denied: 0,
  calls: count,
});

const open = (entry: object = { trust: true }): Promise<Desk> =>
  desk({ servers: (path) => ({ w: { ...stdioServer("workshop", path("notes")), ...entry } }) });

/** Aborts as soon as such an event comes. */
async function stopAt(at: Desk, parts: readonly Part[], when: (event: TurnEvent) => boolean) {
  const model = plays(parts, says("Hello again."));
  const conversation = at.host.conversation({ model });
  const stop = new AbortController();
  const events = await collect(conversation.send("go", { signal: stop.signal }), {
    on: (event) => when(event) && stop.abort(),
  });
  const broken = brokenIn(conversation.history);
  const roles = conversation.history.map(({ role }) => role);
  const next = await collect(conversation.send("and now?"));
  expect([next.at(-1)?.type, brokenIn(conversation.history)]).toEqual(["done", undefined]);
  return { events, broken, roles, history: conversation.history, model };
}

test("aborted before it began, or while servers are waited for, nothing was said", async () => {
  await using at = await open();
  const model = plays(says("never"));
  const conversation = at.host.conversation({ model });
  expect(await collect(conversation.send("go", { signal: AbortSignal.abort() }))).toEqual([cancelled()]);
  const { events, roles } = await stopAt(at, says("x"), ({ type }) => type === "waiting");
  expect([events, roles]).toEqual([[{ type: "waiting", servers: ["w"] }, cancelled()], []]);
});

test("aborted while it waits for a server that never answers, it ends at once", async () => {
  await using at = await desk({ servers: () => ({ never: stdioServer("silent") }) });
  const { events } = await stopAt(at, says("x"), ({ type }) => type === "waiting");
  expect(events.at(-1)).toEqual(cancelled());
});

test("aborted while the model speaks, what was read of it stays said", async () => {
  await using at = await open();
  const { events, broken, history } = await stopAt(
    at,
    [{ text: "One." }, { text: "Two." }],
    ({ type }) => type === "text",
  );
  expect([events.at(-1), broken]).toEqual([cancelled("One."), undefined]);
  expect(history.slice(0, 2)).toEqual([
    { role: "user", parts: [{ text: "go" }] },
    { role: "model", parts: [{ text: "One." }] },
  ]);
});

test("aborted before a model that never answers has said anything, it ends at once", async () => {
  await using at = await open();
  const stop = new AbortController();
  const deaf = rules(() => () => {
    setImmediate(() => stop.abort());
    return new Promise<never>(() => {});
  });
  const conversation = at.host.conversation({ model: deaf, servers: [] });
  const ended = collect(conversation.send("go", { signal: stop.signal }));
  expect(await ended).toEqual([cancelled()]);
  expect(conversation.history.map(({ role }) => role)).toEqual(["user", "model"]);
});

test("aborted while the person is asked, nothing runs, and an answer that comes later counts for nothing", async () => {
  await using at = await open({});
  const asked: Extract<TurnEvent, { type: "confirmation" }>[] = [];
  const { events, broken, history } = await stopAt(at, calls("echo", { text: "1" }, "a"), (event) => {
    if (event.type === "confirmation") asked.push(event);
    return event.type === "confirmation";
  });
  expect([outcomes(events), broken]).toEqual([[["echo", "cancelled"]], undefined]);
  expect(history[2]?.parts).toEqual([
    { functionResponse: { id: "a", name: "echo", response: { error: "The user stopped the call before it ran." } } },
  ]);
  await asked[0]?.details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
  const again = await collect(at.host.runTurn("go", { model: plays(calls("echo", { text: "1" }), says("ok")) }), {
    answer: ToolConfirmationOutcome.Cancel,
  });
  expect(outcomes(again)).toEqual([["echo", "denied", "denied"]]);
  expect(await at.lines("notes")).toEqual([]);
});

test("aborted while calls run, the servers are told, what has ended stays, and the rest has been stopped", async () => {
  await using at = await open();
  const parts = [...calls("echo", { text: "1" }), ...calls("hang"), ...calls("hang")];
  const seen: string[] = [];
  const { events, broken, history } = await stopAt(at, parts, (event) => {
    if (event.type === "call") seen.push(event.status);
    return seen.includes("ok") && seen.filter((status) => status === "running").length === 3;
  });
  expect(broken).toBeUndefined();
  expect(outcomes(events)).toEqual([
    ["echo", "ok"],
    ["hang", "cancelled"],
    ["hang", "cancelled"],
  ]);
  expect(history[2]?.parts.map(({ functionResponse }) => functionResponse?.response)).toEqual([
    { output: expect.stringContaining("1") },
    { error: "The user stopped the call while it ran: it may or may not have had its effect." },
    { error: "The user stopped the call while it ran: it may or may not have had its effect." },
  ]);
  expect(events.at(-1)).toEqual(cancelled("", 3));
  const notes = (): string => readFileSync(at.path("notes"), "utf8");
  await until(
    () =>
      notes()
        .split("\n")
        .filter((line) => line === "cancelled hang").length === 2,
  );
});

test("a caller that stops reading events stops the turn", async () => {
  await using at = await open();
  const conversation = at.host.conversation({ model: plays(calls("hang"), says("ok")) });
  for await (const event of conversation.send("go")) if (event.type === "call" && event.status === "running") break;
  expect(brokenIn(conversation.history)).toBeUndefined();
  expect((await collect(conversation.send("again"))).at(-1)).toMatchObject({ type: "done", reason: "stop" });
  const half = at.host.conversation({ model: plays([{ text: "One." }, { text: "Two." }]) });
  for await (const event of half.send("go")) if (event.type === "text") break;
  expect(half.history.at(-1)).toEqual({ role: "model", parts: [{ text: "One." }] });
});

test("a host that is closed stops its turns", async () => {
  await using at = await open();
  const conversation = at.host.conversation({ model: plays(calls("hang")) });
  const events = await collect(conversation.send("go"), {
    on: (event) => {
      if (event.type === "call" && event.status === "running") void at.host[Symbol.asyncDispose]();
    },
  });
  expect([events.at(-1), brokenIn(conversation.history)]).toEqual([cancelled("", 1), undefined]);
});

test("aborted at any event of any turn, every call has its response and the next turn works", async () => {
  await using at = await open({});
  await at.host.start();
  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.constantFrom<Part>({ text: "Hm. " }),
    fc.constantFrom("echo", "look", "weather", "hang", "unknown", "steps").map((name): Part => {
      const args = name === "echo" ? { text: "x" } : name === "steps" ? { count: 1, every: 1 } : {};
      return { functionCall: { name, args } };
    }),
  );
  const outcome = fc.constantFrom(...Object.values(ToolConfirmationOutcome));
  const script = fc.array(fc.array(part, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  const run = async (answers: readonly (readonly Part[])[], index: number, said: ToolConfirmationOutcome) => {
    const model = plays(...answers, says("The end."));
    const conversation = at.host.conversation({ model });
    const stop = new AbortController();
    let seen = 0;
    const events = await collect(conversation.send("go", { signal: stop.signal }), {
      on: (event) => {
        if (event.type === "confirmation") void event.details.onConfirm(said);
        // A call that hangs ends only when it is aborted.
        const hangs = event.type === "call" && event.name === "hang" && event.status === "running";
        seen += 1;
        if (seen >= index || hangs) stop.abort();
        expect(brokenIn(conversation.history)).toBeUndefined();
      },
    });
    expect(["done", "error"]).toContain(events.at(-1)?.type);
    expect(brokenIn(conversation.history)).toBeUndefined();
    conversation.setModel(plays(says("Hello.")));
    expect((await collect(conversation.send("next"))).at(-1)).toMatchObject({ type: "done", text: "Hello." });
    expect(brokenIn(conversation.history)).toBeUndefined();
  };
  const random = seed();
  await fc.assert(fc.asyncProperty(script, fc.integer({ min: 1, max: 40 }), outcome, run), {
    seed: random,
    numRuns: scaled(600, 30),
  });
});
