import type { Model } from "@fairlead/core/model/model";
import { createScriptedModel } from "@fairlead/core/model/scripted";
import type { Conversation } from "@fairlead/core/turn/conversation";
import { expect, test } from "vitest";
import { createConversationSlot } from "../../../src/tui/session/conversation-slot.ts";

const model = (source: string): Model => createScriptedModel({ script: "", source });

const tokens = { declarations: 1, history: 2, results: 1, context: 100 };

/** Conversations that record what is called on them. */
function scene() {
  const done: string[] = [];
  let count = 0;
  function open(used: Model): Conversation {
    count += 1;
    const id = `c${count}`;
    const step =
      <T>(name: string, result: T) =>
      (...words: readonly unknown[]): T => {
        done.push([id, name, ...words].join(" "));
        return result;
      };
    return {
      id,
      title: `title of ${id}`,
      history: [{ role: "user", parts: [{ text: id }] }],
      model: used,
      send: (input) => {
        done.push(`${id} send ${JSON.stringify(input)}`);
        return (async function* () {})();
      },
      cancelCalls: step("cancelCalls", true),
      setModel: ({ name }) => step("setModel", undefined)(name),
      setTool: step("setTool", undefined),
      tools: step("tools", []),
      offers: step("offers", Promise.resolve([])),
      rename: step("rename", undefined),
      compact: step("compact", Promise.resolve()),
      undoCompact: step("undoCompact", Promise.resolve(true)),
      tokens: step("tokens", tokens),
      close: step("close", Promise.resolve()),
    };
  }
  return { done, open };
}

test("every call goes to the current conversation, with its arguments and its result", async () => {
  const { done, open } = scene();
  const slot = createConversationSlot(open, model("first"));
  expect([slot.id, slot.title, slot.history, slot.model.name]).toEqual([
    "c1",
    "title of c1",
    [{ role: "user", parts: [{ text: "c1" }] }],
    "first",
  ]);
  slot.send("hello");
  slot.setModel(model("other"));
  slot.setTool("s", "t", false);
  slot.rename("plan");
  expect([slot.cancelCalls(), slot.tools(), await slot.offers(), slot.tokens()]).toEqual([true, [], [], tokens]);
  await slot.compact();
  expect(await slot.undoCompact()).toBe(true);
  await slot.close();
  expect(done).toEqual([
    `c1 send "hello"`,
    "c1 setModel other",
    "c1 setTool s t false",
    "c1 rename plan",
    "c1 cancelCalls",
    "c1 tools",
    "c1 offers",
    "c1 tokens",
    "c1 compact",
    "c1 undoCompact",
    "c1 close",
  ]);
});

test("a new conversation has the same model, and the previous one is closed", async () => {
  const { done, open } = scene();
  const slot = createConversationSlot(open, model("first"));
  await slot.renew();
  expect([slot.id, slot.model.name]).toEqual(["c2", "first"]);
  await slot.replace(open(model("third")));
  expect([slot.id, slot.title, slot.model.name]).toEqual(["c3", "title of c3", "third"]);
  expect(done).toEqual(["c1 close", "c2 close"]);
});
