import { HostError } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import { toModel } from "../../src/targets/choose-model.ts";

const ollama = { baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen3:8b", "b", "c", "d", "e", "f", "g"] };

test.each([
  ["no model configured", undefined],
  ['unknown model "gpt-9"', "gpt-9"],
])("a local Ollama is offered in words: %s", (what, wanted) => {
  expect(() => toModel({ kind: "offer", ollama }, wanted)).toThrow(
    new HostError("model", `${what}; Ollama on this machine has qwen3:8b, b, c, d, e and 2 more`, {
      next: "add --model qwen3:8b",
    }),
  );
});

test("where there is none, what to set is the next step", () => {
  const next = "Set GEMINI_API_KEY.";
  expect(() => toModel({ kind: "none", next }, undefined)).toThrow(
    new HostError("model", "no model configured", { next }),
  );
});
