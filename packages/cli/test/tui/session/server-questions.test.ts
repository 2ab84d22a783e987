import type { Model } from "@fairlead/core/model/model";
import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import { expect, test } from "vitest";
import { createQuestionQueue } from "../../../src/tui/session/question-queue.ts";
import { answerServers } from "../../../src/tui/session/server-questions.ts";
import { createStore } from "../../../src/tui/session/store.ts";
import type { Asked } from "../../../src/tui/state/questions.ts";
import { idle } from "../../support/tui/app-state.ts";
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

test("without a model, the request is refused, and the user learns how to choose one", async () => {
  expect(await sampling("manual", true)).toEqual({
    outcome: Cancel,
    asked: [],
    told: ['"github" asked to use your model, but no model is configured. To choose a model: /model'],
  });
});

const address = { serverName: "s", message: "Go", url: "https://a.example/x" };
const noBrowser = `No browser could be opened here. Open this address yourself: ${address.url}`;

test.each([
  ["open", true, "accept", [`open ${address.url}`]],
  ["open", false, "accept", [`open ${address.url}`, noBrowser]],
  ["by_hand", true, "accept", []],
  ["decline", true, "decline", []],
  ["cancel", true, "cancel", []],
] as const)("the user answers a server's address with %s (browser: %s)", async (value, hasBrowser, action, effects) => {
  const store = createStore(idle);
  const questions = createQuestionQueue(store);
  const seen: string[] = [];
  const { elicit } = answerServers({
    questions: () => questions,
    model: () => expect.fail("an elicitation needs no model"),
    isConsented: () => expect.fail("an elicitation calls no tool"),
    openUrl: async (url) => seen.push(`open ${url}`) > 0 && hasBrowser,
    tell: (text) => seen.push(text),
  });
  const answered = elicit({ mode: "url", ...address }, new AbortController().signal);
  const [question] = store.get().questions;
  expect(question).toEqual({ key: expect.any(String), kind: "url", purpose: "elicitation", ...address });
  questions.answer(question?.key ?? "", { kind: "url", value });
  expect(await answered).toEqual({ action });
  expect(seen).toEqual(effects);
});
