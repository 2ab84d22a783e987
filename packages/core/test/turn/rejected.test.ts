import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { Model, ModelEvent } from "../../src/model/model.ts";
import type { TurnEvent } from "../../src/turn/events.ts";
import { geminiScene } from "../support/model-legs.ts";
import { brokenIn, collect, type Desk, desk, outcomes, plays, rules, says } from "../support/turn-desk.ts";

const schema = (description: string): object => ({
  type: "object",
  properties: { text: { type: "string", description } },
});

/** Two servers with `length` tools each. */
async function crowd(length = 100): Promise<Desk> {
  const at = await desk({
    servers: (path) => ({
      a: { ...stdioServer("counted", path("notes"), path("a")), trust: true },
      b: { ...stdioServer("counted", path("notes"), path("b")), trust: true },
    }),
  });
  const tool = (server: string, index: number): object => ({
    name: `${server}${index}`,
    inputSchema: schema(`${server} ${index}`),
  });
  await at.write("a", JSON.stringify(Array.from({ length }, (_, index) => tool("a", index))));
  await at.write("b", JSON.stringify(Array.from({ length }, (_, index) => tool("b", index))));
  return at;
}

const _kinds = (events: readonly TurnEvent[]): readonly string[] => events.map(({ type }) => type);
const quarantined = (events: readonly TurnEvent[]): readonly TurnEvent[] =>
  events.filter(({ type }) => type === "quarantined");

test.each([
  ["its place is named", "rules", 3],
  ["nothing is named", "nothing", 11],
] as const)(
  "200 tools and a poisoned one among them: within one turn it is out, if %s",
  async (_how, explains, most) => {
    await using at = await crowd();
    const words = "* GenerateContentRequest.tools[0].function_declarations[{index}].parameters: too much branching";
    const { api, model } = await geminiScene({
      explains,
      refuses: ({ name }) => (name === "b77" ? words : undefined),
    });
    const conversation = at.host.conversation({ model });
    const events = await collect(conversation.send('call a3 {"text":"hello"}'));
    const reason = explains === "rules" ? words.replace("{index}", "175") : "Request contains an invalid argument.";
    expect(quarantined(events)).toEqual([
      { type: "quarantined", server: "b", serverToolName: "b77", reason: expect.stringContaining(reason) },
    ]);
    expect(outcomes(events)).toEqual([["a3", "ok"]]);
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop", text: expect.stringContaining("hello") });
    expect(brokenIn(conversation.history)).toBeUndefined();
    // The request itself, what was asked to find it, the request without it, and the answer to the call.
    expect(api.seen.length).toBeLessThanOrEqual(most + 1);
    expect(api.seen.at(-1)?.body.tools?.[0]?.functionDeclarations).toHaveLength(199);
    expect(conversation.tools().find(({ name }) => name === "b77")?.quarantined).toContain(reason);
  },
);

test.each([
  ["a tool's place", "* GenerateContentRequest.tools[0].function_declarations[0].parameters: see tools[0]"],
  ["what was said", "schema of b7: 'contents of the prompt, an image, a function call, its mime type and messages'"],
  ["too much", "schema of b7: 'longer than the context window, its token count'"],
])("words of a poisoned tool that put it down to %s do not mislead Fairlead", async (_what, words) => {
  await using at = await crowd(10);
  const { model } = await geminiScene({ refuses: ({ name }) => (name === "b7" ? words : undefined) });
  const events = await collect(at.host.conversation({ model }).send('call a0 {"text":"hello"}'));
  expect(quarantined(events)).toEqual([
    { type: "quarantined", server: "b", serverToolName: "b7", reason: expect.stringContaining(words) },
  ]);
  expect(outcomes(events)).toEqual([["a0", "ok"]]);
});

/** Refuses requests with such tools, and says nothing of which. */
function picky(
  isRefused: (names: readonly string[], isProbe: boolean) => boolean,
  then: Model = plays(says("Fine.")),
): Model & { readonly requests: readonly unknown[] } {
  const rejected: readonly ModelEvent[] = [{ type: "rejected", message: "INVALID" }];
  const requests: unknown[] = [];
  return {
    ...rules(() => []),
    requests,
    stream(messages, tools, signal) {
      requests.push(tools.length);
      const isProbe = messages.length === 1 && messages[0]?.parts[0]?.text === ".";
      const names = tools.map(({ name }) => name);
      if (isRefused(names, isProbe)) return rules(() => ({ events: rejected })).stream(messages, tools, signal);
      return then.stream(messages, tools, signal);
    },
  };
}

test("several poisoned tools go one after the other, and what has passed is not suspected again", async () => {
  await using at = await crowd();
  const bad = ["a5", "a99", "b0", "b50"];
  const model = picky((names) => names.some((name) => bad.includes(name)));
  const events = await collect(at.host.conversation({ model }).send("go"));
  expect(new Set(quarantined(events).map((event) => "serverToolName" in event && event.serverToolName))).toEqual(
    new Set(bad),
  );
  expect(events.at(-1)).toMatchObject({ type: "done", text: "Fine." });
  expect(model.requests.length).toBeLessThan(4 * 9 + 1);
});

test("a refusal that is about what was said blames no tool", async () => {
  await using at = await crowd();
  const model = picky((_names, isProbe) => !isProbe);
  const conversation = at.host.conversation({ model });
  const events = await collect(conversation.send("go"));
  expect(quarantined(events)).toEqual([]);
  expect(events.at(-1)).toEqual({
    type: "error",
    error: new HostError("model", "the model's API refuses the request: INVALID"),
  });
  expect(conversation.history).toEqual([]);
});

test("tools that are too many together are cut to as many as pass, and the person is told which", async () => {
  await using at = await crowd();
  const model = picky((names) => names.length > 120);
  const events = await collect(at.host.conversation({ model }).send("go"));
  expect(quarantined(events)).toHaveLength(100);
  expect(quarantined(events)[0]).toMatchObject({ server: "b", serverToolName: "b0" });
  expect(events.at(-1)).toMatchObject({ type: "done" });
});
