import { inTurn } from "@fairlead/test-servers";
import { createManualModel, type ManualLine } from "../../src/model/manual.ts";
import { createScriptedModel } from "../../src/model/scripted.ts";
import type { Part } from "../../src/normalise/model-types.ts";
import { describeLive } from "../support/live-models.ts";
import { describeModel } from "../support/model-contract.ts";
import { anthropicScene, geminiScene, inNarrowNames, openaiScene } from "../support/model-legs.ts";

const prompt = "go";

describeModel({
  name: "Gemini",
  callsAtOnce: true,
  open: async (answers) => ({ prompt, model: (await geminiScene({ answer: inTurn(...answers) })).model }),
});

for (const callDeltas of ["pieces", "whole", "interleaved", "same-index"] as const)
  describeModel({
    name: `An OpenAI-compatible endpoint (${callDeltas})`,
    callsAtOnce: true,
    open: async (answers) => ({
      prompt,
      model: (await openaiScene({ answer: inNarrowNames(answers), callDeltas })).model,
    }),
  });

for (const bytesPerWrite of [7, Number.POSITIVE_INFINITY])
  describeModel({
    name: `Anthropic (${bytesPerWrite} bytes at once)`,
    callsAtOnce: true,
    open: async (answers) => ({
      prompt,
      model: (await anthropicScene({ answer: inNarrowNames(answers), bytesPerWrite })).model,
    }),
  });

describeModel({
  name: "A script",
  callsAtOnce: true,
  open: async (answers) => {
    const lines = answers.map(({ pieces }) => {
      const parts = pieces.flatMap((piece): Part[] => {
        if ("text" in piece) return [{ text: piece.text }];
        return "call" in piece ? [{ functionCall: { name: piece.call, args: piece.args ?? {} } }] : [];
      });
      return JSON.stringify({ role: "model", parts });
    });
    return { prompt, model: createScriptedModel({ script: lines.join("\n") }) };
  },
});

describeModel({
  name: "The person",
  // One line after the other.
  callsAtOnce: false,
  open: async (answers) => {
    const lines = answers.flatMap(({ pieces }) => pieces.filter((piece) => "text" in piece || "call" in piece));
    const parse = (line: string): ManualLine => {
      const read = JSON.parse(line) as { text?: string; call?: string; args?: Record<string, unknown> };
      if (read.call === undefined) return { kind: "message", text: read.text ?? "" };
      return { kind: "call", call: { name: read.call, args: read.args ?? {} } };
    };
    return { prompt: lines.map((line) => JSON.stringify(line)).join("\n"), model: createManualModel({ parse }) };
  },
});

describeLive();
