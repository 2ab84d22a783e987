import type { Model } from "@fairlead/core/model/model";
import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import { expect, test } from "vitest";
import { answerServers } from "../../../src/tui/session/server-questions.ts";
import type { Asked } from "../../../src/tui/state/questions.ts";
import { confirmation } from "../../support/tui/samples.ts";

const { ProceedOnce, Cancel } = ToolConfirmationOutcome;

/** A server wants to use the model of this provider; the user answers as given. */
async function sampling(provider: Model["provider"], isAllowed: boolean) {
  const asked: Asked[] = [];
  const told: string[] = [];
  const { confirm } = answerServers({
    questions: () => ({
      ask: async (_kind, question) => {
        asked.push(question);
        return isAllowed as never;
      },
    }),
    model: () => ({ provider, name: "clever" }) as Model,
    isConsented: async () => true,
    openUrl: async () => true,
    tell: (text) => told.push(text),
  });
  const { details } = confirmation({ toolDisplayName: "sampling/createMessage", args: { maxTokens: 5 } });
  return { outcome: await confirm(details, new AbortController().signal), asked, told };
}

test.each([
  [true, ProceedOnce],
  [false, Cancel],
])("a server that wants to use the model has to be allowed to: %s", async (isAllowed, outcome) => {
  expect(await sampling("gemini", isAllowed)).toEqual({
    outcome,
    asked: [{ kind: "sampling", serverName: "github", params: { maxTokens: 5 }, model: "clever" }],
    told: [],
  });
});

test("where there is no model nobody is asked: the request is refused and the user told how to choose one", async () => {
  expect(await sampling("manual", true)).toEqual({
    outcome: Cancel,
    asked: [],
    told: ['"github" asked to use your model, but no model is configured. To choose a model: /model'],
  });
});
