/** What every model adapter must do: one suite, a leg for each adapter. */

import type { ModelAnswer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import type { HostError } from "../../src/errors.ts";
import type { Model, ModelEvent } from "../../src/model/model.ts";
import type { Content, FunctionDeclaration } from "../../src/normalise/model-types.ts";

export interface OpenedModel {
  readonly model: Model;
  /** What the person says, so that the answers come. */
  readonly prompt: string;
}

export interface ModelLeg {
  readonly name: string;
  /** A model that gives these answers, one for each request; it lives as long as the test. */
  readonly open: (answers: readonly ModelAnswer[]) => Promise<OpenedModel>;
  readonly callsAtOnce: boolean;
}

export const tools: readonly FunctionDeclaration[] = ["add", "files.read"].map((name) => ({
  name,
  description: `Does what ${name} does.`,
  parametersJsonSchema: { type: "object", properties: { a: { type: "number" } } },
}));

export function user(...texts: readonly string[]): Content {
  return { role: "user", parts: texts.map((text) => ({ text })) };
}

export async function all(
  model: Model,
  messages: readonly Content[],
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(messages, tools, signal)) events.push(event);
  return events;
}

export function finishOf(events: readonly ModelEvent[]): ModelEvent & { readonly type: "finish" } {
  const last = events.at(-1);
  if (last?.type !== "finish") throw new Error(`the last event is ${JSON.stringify(last)}`);
  return last;
}

function callsIn(events: readonly ModelEvent[]) {
  return events.flatMap((event) => (event.type === "call" ? [event.call] : []));
}

export function describeModel({ name, open, callsAtOnce }: ModelLeg): void {
  describe(`${name} as a model`, () => {
    test("what it says comes as text, and once more as content at the end", async () => {
      const { model, prompt } = await open([{ pieces: [{ text: "Hello, you." }] }]);
      const events = await all(model, [user(prompt)]);
      expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe("Hello, you.");
      expect(finishOf(events)).toEqual({
        type: "finish",
        reason: "stop",
        content: { role: "model", parts: [{ text: "Hello, you." }] },
      });
      expect(events.filter(({ type }) => type === "finish")).toHaveLength(1);
    });

    test.each(["add", "files.read"])("a call of %s comes under the name that was shown", async (called) => {
      const { model, prompt } = await open([{ pieces: [{ call: called, args: { a: 1, b: { c: ["ä", null] } } }] }]);
      const events = await all(model, [user(prompt)]);
      expect(callsIn(events)).toMatchObject([{ name: called, args: { a: 1, b: { c: ["ä", null] } } }]);
      const { reason, content } = finishOf(events);
      expect(reason).toBe("stop");
      expect(content.parts.map(({ functionCall }) => functionCall)).toEqual(callsIn(events));
    });

    test("a call without arguments has none", async () => {
      const { model, prompt } = await open([{ pieces: [{ call: "add" }] }]);
      expect(callsIn(await all(model, [user(prompt)]))).toMatchObject([{ name: "add", args: {} }]);
    });

    test("arguments with the names of an object's own parts are arguments", async () => {
      const args = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as Record<string, unknown>;
      const { model, prompt } = await open([{ pieces: [{ call: "add", args }] }]);
      const [call] = callsIn(await all(model, [user(prompt)]));
      expect(JSON.stringify(call?.args)).toBe(JSON.stringify(args));
      expect(Object.getPrototypeOf(call?.args)).toBe(Object.prototype);
    });

    test("a result goes back, and the answer goes on", async () => {
      const { model, prompt } = await open([
        { pieces: [{ call: "add", args: { a: 1 } }] },
        { pieces: [{ text: "1" }] },
      ]);
      const first = finishOf(await all(model, [user(prompt)]));
      const call = first.content.parts.find(({ functionCall }) => functionCall)?.functionCall ?? {};
      const functionResponse = {
        ...(call.id !== undefined && { id: call.id }),
        name: "add",
        response: { output: "1" },
      };
      const history: Content[] = [user(prompt), first.content, { role: "user", parts: [{ functionResponse }] }];
      expect(finishOf(await all(model, history)).content.parts).toEqual([{ text: "1" }]);
    });

    test("a request that is cancelled before it is made is not made", async () => {
      const { model, prompt } = await open([{ pieces: [{ text: "never" }] }]);
      await expect(all(model, [user(prompt)], AbortSignal.abort())).rejects.toMatchObject({ code: "cancelled" });
    });

    test("a request that is cancelled while it is answered ends at once", async () => {
      const until = new Promise(() => {});
      const { model, prompt } = await open([{ pieces: [{ text: "one" }, { until }, { text: "two" }] }]);
      const cancel = new AbortController();
      const seen: string[] = [];
      const failure: unknown = await (async () => {
        for await (const { type } of model.stream([user(prompt)], tools, cancel.signal)) {
          seen.push(type);
          cancel.abort();
        }
        return undefined;
      })().catch((error: HostError) => error);
      expect(seen).toEqual(["text"]);
      expect(failure).toMatchObject({ name: "HostError", code: "cancelled" });
    });

    if (!callsAtOnce) return;

    test("several calls at once come in their order, behind what was said", async () => {
      const pieces = [
        { text: "Both." },
        { call: "add", args: { a: 1 } },
        { call: "files.read", args: { path: "x" } },
        { call: "add", args: { a: 2 } },
      ];
      const { model, prompt } = await open([{ pieces }]);
      const events = await all(model, [user(prompt)]);
      expect(events.flatMap(({ type }) => (type === "text" || type === "call" ? [type] : []))).toEqual([
        "text",
        "call",
        "call",
        "call",
      ]);
      expect(callsIn(events).map(({ name: called, args }) => [called, args])).toEqual([
        ["add", { a: 1 }],
        ["files.read", { path: "x" }],
        ["add", { a: 2 }],
      ]);
      const ids = callsIn(events).map(({ id }) => id);
      expect(new Set(ids.filter((id) => id !== undefined)).size).toBe(ids.filter((id) => id !== undefined).length);
    });
  });
}
