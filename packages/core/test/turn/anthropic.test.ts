import { answered, anthropicOverloaded, cutAfter, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { anthropicScene } from "../support/model-legs.ts";
import { collect, type Desk, desk, outcomes } from "../support/turn-desk.ts";

/** Schemas that Anthropic's API refuses as they are. */
const tools = [
  {
    name: "find",
    inputSchema: {
      type: "object",
      properties: { "filter[id]": { type: "string" }, text: { type: "string" } },
      anyOf: [{ required: ["filter[id]"] }, { required: ["text"] }],
    },
  },
  { name: "odd", inputSchema: { type: "object", properties: { text: { type: "string", description: "odd" } } } },
];

async function repaired(): Promise<Desk> {
  const at = await desk({
    servers: (path) => ({ a: { ...stdioServer("counted", path("notes"), path("tools")), trust: true } }),
  });
  await at.write("tools", JSON.stringify(tools));
  return at;
}

test("a tool's schema is repaired for the API, and the server gets its own names back", async () => {
  await using at = await repaired();
  const { api, model } = await anthropicScene();
  const prompt = 'call find {"filter_id_":"7","text":"hello"}';
  const events = await collect(at.host.runTurn(prompt, { model }));
  expect(outcomes(events)).toEqual([["find", "ok"]]);
  expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop", text: expect.stringContaining("hello") });
  expect((await at.lines("notes")).join("\n")).toContain('"filter[id]":"7"');
  expect(api.seen).toHaveLength(2);
});

test("a tool that the API refuses is set aside with the API's words, and the turn goes on", async () => {
  await using at = await repaired();
  const refuses = ({ name }: { readonly name?: string }) => (name === "odd" ? "JSON schema is invalid" : undefined);
  const { api, model } = await anthropicScene({ refuses });
  const events = await collect(at.host.runTurn('call find {"text":"hello"}', { model }));
  expect(events.filter(({ type }) => type === "quarantined")).toMatchObject([
    { server: "a", serverToolName: "odd", reason: expect.stringContaining("JSON schema is invalid") },
  ]);
  expect(outcomes(events)).toEqual([["find", "ok"]]);
  expect(api.seen.at(-1)?.tools?.some(({ name }) => name === "odd")).toBe(false);
});

test("an answer that is cut in its middle ends the turn, and the next turn takes the history", async () => {
  await using at = await repaired();
  const { api, model } = await anthropicScene();
  const conversation = at.host.conversation({ model });
  // After the beginning of the arguments of a call.
  api.interrupt("messages", cutAfter(5));
  api.interrupt("messages", answered(anthropicOverloaded()));
  const cut = await collect(conversation.send('call find {"text":"hello"}'), {});
  expect(outcomes(cut)).toEqual([["find", "ok"]]);
  expect(cut.filter(({ type }) => type === "retry")).toHaveLength(2);
  expect((await collect(conversation.send("And now?"))).at(-1)).toMatchObject({ type: "done", reason: "stop" });
});
