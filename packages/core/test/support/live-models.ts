/** The real APIs, for developers who have a key: without one no test is registered, and that is said. */

import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { chooseModel } from "../../src/model/choose-model.ts";
import type { Model } from "../../src/model/model.ts";
import type { Content } from "../../src/normalise/model-types.ts";
import { finishOf } from "./model-contract.ts";

const add = {
  name: "calculator.add",
  description: "Adds two numbers.",
  parametersJsonSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
};

async function ask(model: Model, history: readonly Content[]) {
  const events = [];
  for await (const event of model.stream(history, [add], new AbortController().signal)) events.push(event);
  return finishOf(events);
}

export function describeLive(): void {
  const { env } = process;
  const isLive = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"]
    .map((name) => env[name])
    .some((key) => key);
  if (!isLive) {
    process.stdout.write(
      "The live suite did not run: neither GEMINI_API_KEY, GOOGLE_API_KEY, OPENAI_API_KEY nor ANTHROPIC_API_KEY is set.\n",
    );
    return;
  }
  describe("a real model", () => {
    test("calls a function, reads its result and says it", async () => {
      const wanted = env["FAIRLEAD_LIVE_MODEL"];
      const chosen = await chooseModel({ env, wanted, clock: systemClock });
      if (chosen.kind !== "model") throw new Error(`there is no model: ${chosen.kind}`);
      const question: Content = {
        role: "user",
        parts: [{ text: "Use the function to add 1234 and 4321, then tell me the sum in digits." }],
      };
      const { content } = await ask(chosen.model, [question]);
      const call = content.parts.find(({ functionCall }) => functionCall)?.functionCall;
      expect(call).toMatchObject({ name: add.name, args: { a: 1234, b: 4321 } });
      const functionResponse = { ...(call?.id && { id: call.id }), name: add.name, response: { output: "5555" } };
      const answer = await ask(chosen.model, [question, content, { role: "user", parts: [{ functionResponse }] }]);
      const text = answer.content.parts.flatMap((part) => (part.thought === true ? [] : (part.text ?? []))).join("");
      expect(text.replaceAll(/\D/g, "")).toContain("5555");
    });
  });
}
