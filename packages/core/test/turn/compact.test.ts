import { readFile } from "node:fs/promises";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Model } from "../../src/model/model.ts";
import type { Content } from "../../src/normalise/model-types.ts";
import type { TurnEvent } from "../../src/turn/events.ts";
import {
  calls,
  collect,
  type Desk,
  desk,
  outcomes,
  type PlayedModel,
  rules,
  type Saying,
  says,
} from "../support/turn-desk.ts";

const words = (count: number, word = "alpha"): string => `${word} `.repeat(count);

/** Results of 2 000 tokens, and a context of 10 000. */
async function narrow(results: object = {}): Promise<Desk> {
  const at = await desk({
    servers: (path) => ({ s: { ...stdioServer("results", path("results.json")), trust: true } }),
    fairlead: { contextTokens: 10_000 },
  });
  const text = (said: string): object => ({ content: [{ type: "text", text: said }] });
  const bad = { ...text(`E42 ${words(2_000)}`), isError: true };
  await at.write("results.json", { look: text(words(2_000)), bad, ...results });
  return at;
}

const isSummary = ({ messages }: { readonly messages: readonly Content[] }): boolean =>
  messages[0]?.parts[0]?.text?.startsWith("Summarise the conversation below") === true;

/** Summaries are "the summary"; other requests are answered in turn. */
function answers(answer: (number: number) => Saying, how: Partial<Model> = {}): PlayedModel {
  let number = -1;
  return rules((asked) => {
    if (isSummary(asked)) return says("the summary");
    number += 1;
    return answer(number);
  }, how);
}

const notes = (events: readonly TurnEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "note" ? [event.message.replace(/\d+ %/, "N %")] : []));
const stored = (count: number): string =>
  `the conversation fills N % of the model's context: ${count} earlier results are stored in files now; the model can read them`;
const summarised =
  "the conversation fills N % of the model's context: a summary by the model replaces earlier messages";
const textOf = (history: readonly Content[]): string => JSON.stringify(history);

test("near the model's limit earlier results become handles, which the model can read", async () => {
  await using at = await narrow();
  const model = answers((number) => (number < 5 ? calls(number === 0 ? "bad" : "look") : says("ok")));
  const conversation = at.host.conversation({ model });
  const events = await collect(conversation.send("go"));
  expect(notes(events)).toEqual([stored(2)]);
  expect(outcomes(events)).toHaveLength(5);
  const [, , bad, , look] = conversation.history;
  expect(textOf(bad ? [bad] : [])).toMatch(
    /"error":"\[A result of \d+ characters, stored in full as result:[\s\S]*E42 alpha/,
  );
  expect(textOf(look ? [look] : [])).toMatch(
    /"output":"\[A result of \d+ characters, stored in full as result:\S+ \(see read_result\)\]"/,
  );
  const handle = /result:\/\/\w+/.exec(textOf(look ? [look] : []))?.[0];
  conversation.setModel(answers((number) => (number === 0 ? calls("read_result", { handle, lines: 5 }) : says("ok"))));
  expect(outcomes(await collect(conversation.send("read it")))).toEqual([["read_result", "ok"]]);
});

test("where that is not enough, a summary takes the place of earlier turns; the message of this turn stays", async () => {
  await using at = await narrow();
  const model = answers(() => says("ok"));
  const conversation = at.host.conversation({ model });
  await collect(conversation.send(words(7_000, "first")));
  expect(notes(await collect(conversation.send(words(2_000, "second"))))).toEqual([summarised]);
  expect(conversation.history.map(({ role, parts }) => [role, parts[0]?.text?.slice(0, 11)])).toEqual([
    ["user", "Summarise o"],
    ["model", "the summary"],
    ["user", "second seco"],
    ["model", "ok"],
  ]);
});

test("a compaction can be undone, and is then left to the user", async () => {
  await using at = await narrow();
  const model = answers(() => says("ok"));
  const conversation = at.host.conversation({ model });
  expect(await conversation.undoCompact()).toBe(false);
  await collect(conversation.send(words(7_000, "first")));
  await collect(conversation.send(words(2_000, "second")));
  expect(await conversation.undoCompact()).toBe(true);
  expect(conversation.history.map(({ parts }) => parts[0]?.text?.slice(0, 6))).toEqual([
    "first ",
    "ok",
    "second",
    "ok",
  ]);
  expect(await conversation.undoCompact()).toBe(false);
  expect(notes(await collect(conversation.send("third")))).toEqual([]);
});

test("a summary that fails is said, and the turn goes on with the whole history", async () => {
  await using at = await narrow();
  const model = rules((asked) => (isSummary(asked) ? says("") : says("ok")));
  const conversation = at.host.conversation({ model });
  await collect(conversation.send(words(7_000)));
  const events = await collect(conversation.send(words(2_000)));
  expect(notes(events)).toEqual([
    "the conversation fills N % of the model's context and could not be compacted: played wrote no complete summary; the history is unchanged",
  ]);
  expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop" });
  expect(conversation.history).toHaveLength(4);
});

test("a message that the model could not be asked is taken back, also after a summary", async () => {
  await using at = await narrow();
  const model = answers((number) => (number === 0 ? says("ok") : { events: [{ type: "rejected", message: "no" }] }));
  const conversation = at.host.conversation({ model });
  await collect(conversation.send(words(7_000)));
  const events = await collect(conversation.send(words(2_000)));
  expect(events.at(-1)?.type).toBe("error");
  expect(conversation.history.map(({ parts }) => parts[0]?.text?.slice(0, 11))).toEqual(["Summarise o", "the summary"]);
});

test("a resumed conversation begins with what was left, and results of private servers are in no recording", async () => {
  await using at = await desk({
    servers: (path) => ({ s: { ...stdioServer("results", path("results.json")), trust: true } }),
    fairlead: { contextTokens: 10_000, servers: { s: { hideResults: true } } },
  });
  await at.write("results.json", { look: { content: [{ type: "text", text: words(2_000, "private") }] } });
  const model = answers((number) => (number < 5 ? calls("look") : says("ok")));
  const conversation = at.host.conversation({ model });
  expect(notes(await collect(conversation.send("go")))).toEqual([stored(2)]);
  await conversation.close();
  const recording = await readFile(at.path(`home/.fairlead/conversations/${conversation.id}.jsonl`), "utf8");
  expect(recording).not.toContain("private private");
  const resumed = await (await at.again()).conversation({ resume: conversation.id, model });
  expect(resumed.history).toHaveLength(conversation.history.length);
});

test("the tokens of the next request are estimated by kind", async () => {
  await using at = await narrow();
  const conversation = at.host.conversation({
    model: answers((number) => (number === 0 ? calls("look") : says("ok"))),
  });
  expect(conversation.tokens()).toMatchObject({ history: 0, results: 0, context: 10_000 });
  await collect(conversation.send("go"));
  const { declarations, history, results } = conversation.tokens();
  expect(declarations).toBeGreaterThan(20);
  expect(results).toBeGreaterThan(2_000);
  expect(history).toBeGreaterThan(results);
});
