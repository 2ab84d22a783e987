import { HostError } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import { toModel } from "../../src/targets/choose-model.ts";

const ollama = { baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen3:8b", "b", "c", "d", "e", "f", "g"] };

test.each([
  ["no model is set", undefined],
  ['nothing here knows a model "gpt-9"', "gpt-9"],
])("a local Ollama is offered in words: %s", (what, wanted) => {
  expect(() => toModel({ kind: "offer", ollama }, wanted)).toThrow(
    new HostError("model", `${what}; Ollama runs on this machine and has qwen3:8b, b, c, d, e and 2 more`, {
      next: "To use it, add: --model qwen3:8b",
    }),
  );
});

test("where there is none, what to set is the next step", () => {
  const next = "Set GEMINI_API_KEY.";
  expect(() => toModel({ kind: "none", next }, undefined)).toThrow(new HostError("model", "no model is set", { next }));
});
