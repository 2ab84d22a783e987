import { calls, inTurn, type ModelAnswer, says } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import type { Ending } from "../support/machine.ts";
import { linesOf, type Scene, scene } from "../support/model-scene.ts";

/** It uses two servers' tools, is denied a third, draws a picture, and says something before and after. */
const script: readonly ModelAnswer[] = [
  { pieces: [{ thought: "Two of them." }, { text: "Let me see.\n" }, { call: "echo", args: { text: "one" } }] },
  calls("right__echo", { text: "two" }),
  calls("right__ask", { method: "roots/list" }),
  calls("demo__picture", { pattern: "waves", size: 8 }),
  says("Both echo, ", "and there is\ntea."),
];
const prompt = "What is on @shelf://list, and who echoes?";
const allowed = ["left.echo", "right.echo", "demo.picture"].flatMap((name) => ["--allow", name]);
const options = ["--model", "gemini-3-flash-preview", "--servers", "left,right,shelf,demo", ...allowed];
const shelf = {
  resources: [{ uri: "shelf://list", name: "list" }],
  contents: { "shelf://list": [{ uri: "shelf://list", text: "tea" }] },
};

function open(): Promise<Scene> {
  return scene({ counted: ["left", "right"], shelves: { shelf }, api: { answer: inTurn(...script) } });
}

/** How long something took is not the same twice. */
function timeless({ stdout, stderr, code }: Ending): Ending {
  return { code, stderr, stdout: stdout.replaceAll(/"durationMs": ?\d+/g, '"durationMs": 1') };
}

const conversation = expect.stringMatching(/^\d{8}-\d{6}-[0-9a-f]{6}$/) as string;
const why = "right.ask denied: it needs confirmation and there is no terminal to ask on";
const data = expect.stringMatching(/^iVBORw0KGgo/) as string;
const drawing = expect.stringContaining("A picture of waves, 8 × 8 pixels.") as string;
const answer = "Both echo, and there is\ntea.";
const ok = { status: "ok", rule: "--allow allows it", durationMs: 1 };
const denied = {
  status: "denied",
  error: { code: "denied", message: why, next: "add --allow right.ask, or: fairlead policy allow right.ask" },
};
const echo = { serverToolName: "echo", ...ok };
const done = [
  { id: "call-1", name: "echo", server: "left", args: { text: "one" }, display: "one", ...echo },
  { id: "call-2", name: "right__echo", server: "right", args: { text: "two" }, display: "two", ...echo },
  {
    id: "call-3",
    name: "right__ask",
    server: "right",
    serverToolName: "ask",
    args: { method: "roots/list" },
    ...denied,
  },
  {
    id: "call-4",
    name: "demo__picture",
    server: "demo",
    serverToolName: "picture",
    args: { pattern: "waves", size: 8 },
    display: drawing,
    media: [{ mimeType: "image/png", data }],
    ...ok,
  },
];

const talk = `waiting for left, right, demo
left.echo {"text":"one"}
right.echo {"text":"two"}
${why}
  next: add --allow right.ask, or: fairlead policy allow right.ask
demo.picture {"pattern":"waves","size":8}
demo.picture: [image image/png, 141 B]
next: to allow a denied tool, add --allow SERVER.TOOL
`;

describe("two servers' tools, a call that is allowed, one that is denied, a picture and a resource", () => {
  test("as text", async () => {
    await using here = await open();
    expect(await here.ask(prompt, ...options)).toEqual({
      code: 0,
      stdout: `Let me see.\n\n${answer}\n`,
      stderr: talk,
    });
    expect(await here.diary("right")).toEqual([
      "start counted",
      'declared {"elicitation":{"form":{"applyDefaults":true},"url":{}}}',
      'call echo {"text":"two"}',
    ]);
  });

  test("as one document", async () => {
    await using here = await open();
    const ending = timeless(await here.ask(prompt, ...options, "--output-format", "json"));
    expect({ ...ending, stdout: JSON.parse(ending.stdout) as unknown }).toEqual({
      code: 0,
      stdout: {
        schemaVersion: 1,
        ok: true,
        model: { provider: "gemini", name: "gemini-3-flash-preview" },
        conversation,
        reason: "stop",
        text: answer,
        calls: done,
        denied: 1,
        usage: {
          requests: 5,
          inputTokens: expect.any(Number) as number,
          outputTokens: expect.any(Number) as number,
          cachedTokens: 0,
        },
        quarantined: [],
        missing: [],
        notes: [],
      },
      stderr: talk,
    });
  });

  test("as a line for each event", async () => {
    await using here = await open();
    const ending = timeless(await here.ask(prompt, ...options, "--output-format", "stream-json"));
    expect({ code: ending.code, stderr: ending.stderr }).toEqual({ code: 0, stderr: talk });
    const usage = {
      type: "usage",
      inputTokens: expect.any(Number) as number,
      outputTokens: expect.any(Number) as number,
    };
    const [first, second, third, picture] = done.map((call) => statesOf(call));
    const events = [
      { type: "start", model: { provider: "gemini", name: "gemini-3-flash-preview" }, conversation },
      { type: "waiting", servers: ["left", "right", "demo"] },
      { type: "thought", text: "Two of them." },
      { type: "text", text: "Let me see.\n" },
      usage,
      ...(first ?? []),
      usage,
      ...(second ?? []),
      usage,
      ...(third ?? []),
      usage,
      ...(picture ?? []),
      { type: "text", text: "Both echo, " },
      { type: "text", text: "and there is\ntea." },
      usage,
      { type: "done", reason: "stop", text: answer, denied: 1, calls: 4 },
    ];
    expect(linesOf(ending)).toEqual(events.map((event) => ({ schemaVersion: 1, ...event })));
  });

  test("the model gets the resource, and what came of each call", async () => {
    await using here = await open();
    await here.ask(prompt, ...options);
    const contents = here.api.seen.at(-1)?.body.contents ?? [];
    const asked = contents[0]?.parts?.map(({ text }) => text).join("\n");
    expect(asked).toMatch(/^What is on @shelf:\/\/list, and who echoes\?\n[\s\S]*<untrusted_context_\w+>\ntea\n<\//);
    const responses = contents.flatMap(({ parts = [] }) =>
      parts.flatMap(({ functionResponse }) => functionResponse ?? []),
    );
    expect(
      responses.map(({ name, response, parts }) => [name, Object.keys(response ?? {}), parts?.length ?? 0]),
    ).toEqual([
      ["echo", ["output"], 0],
      ["right__echo", ["output"], 0],
      ["right__ask", ["error"], 0],
      ["demo__picture", ["output"], 1],
    ]);
  });
});

/** All that is told of a call, from its last state. */
function statesOf(call: (typeof done)[number]): object[] {
  const { status, rule, ...end } = call as Record<string, unknown>;
  const { id, name, server, serverToolName, args } = end;
  const event = { type: "call", id, name, server, serverToolName, args };
  if (status === "denied")
    return [
      { ...event, status: "requested" },
      { ...event, ...end, status },
    ];
  const ruled = { ...event, rule };
  const states = ["queued", "running"].map((state) => ({ ...ruled, status: state }));
  return [{ ...event, status: "requested" }, ...states, { ...ruled, ...end, status }];
}
