import { scaled, seed } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Model } from "../../src/model/model.ts";
import { anthropicScene, geminiScene, openaiScene } from "../support/model-legs.ts";
import { brokenIn, collect, type Desk, desk, outcomes } from "../support/turn-desk.ts";

/** Each keeps the rules of its API, about the order of calls and responses too. */
const apis: Readonly<Record<string, () => Promise<{ readonly model: Model }>>> = {
  "Gemini 3": () => geminiScene({}, { name: "gemini-3-pro-preview" }),
  "an older Gemini": () =>
    geminiScene(
      { hasCallIds: false, hasSignatures: false, takesMediaInResponses: false },
      { name: "gemini-2.5-flash" },
    ),
  "what speaks like OpenAI": () => openaiScene(),
  Anthropic: () => anthropicScene(),
};

const demo = (): Promise<Desk> => desk({ servers: () => ({}), host: { approvalMode: "yolo" } });
const prompt = [
  "call demo__picture",
  'call demo__greet {"name":"Ada"}',
  "then",
  "call demo__fail",
  "then",
  "call nothing",
];

test.each(Object.entries(apis))(
  "%s: pictures, several calls at once, failures and unknown names in one turn",
  async (_name, open) => {
    await using at = await demo();
    const { model } = await open();
    const conversation = at.host.conversation({ model });
    const events = await collect(conversation.send(prompt.join("\n")));
    expect(
      outcomes(events)
        .map(([name, status]) => `${name} ${status}`)
        .sort((a, b) => a.localeCompare(b)),
    ).toEqual(["demo__fail error", "demo__greet ok", "demo__picture ok", "nothing error"]);
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop", calls: 4 });
    expect((await collect(conversation.send("And now?"))).at(-1)).toMatchObject({ type: "done", reason: "stop" });
  },
);

test.each(Object.entries(apis))("%s takes the history of a turn that was stopped anywhere", async (_name, open) => {
  await using at = await demo();
  const { model } = await open();
  // Every moment with `--long`, otherwise every third one.
  const step = scaled(1, 3);
  for (let index = seed() % step, isOver = false; !isOver; index += step) {
    const conversation = at.host.conversation({ model });
    const stop = new AbortController();
    let seen = 0;
    const events = await collect(conversation.send(prompt.join("\n"), { signal: stop.signal }), {
      on: () => {
        if (seen === index) stop.abort();
        seen += 1;
      },
    });
    isOver = seen <= index;
    expect(brokenIn(conversation.history)).toBeUndefined();
    const next = await collect(conversation.send("And now?"));
    expect([index, events.at(-1)?.type, next.at(-1)]).toEqual([
      index,
      "done",
      expect.objectContaining({ type: "done", reason: "stop" }),
    ]);
  }
});
