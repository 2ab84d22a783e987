import type { Model, ModelEvent } from "@fairlead/core/model/model";
import { ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { toConfirmationView } from "@fairlead/core/policy/confirmation-view";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { SharedConfirmations } from "@fairlead/gateway/consent/shared-confirmations";
import { temporaryFolder, until } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { QuestionQueue } from "../../../src/tui/session/question-queue.ts";
import { answerServers } from "../../../src/tui/session/server-questions.ts";
import { Store } from "../../../src/tui/session/store.ts";
import type { Asked } from "../../../src/tui/state/questions.ts";
import { idle } from "../../support/tui/app-state.ts";
import { confirmationDetails } from "../../support/tui/samples.ts";

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
    schemaOf: () => undefined,
    note: () => {},
    tell: (text) => told.push(text),
  });
  const details = confirmationDetails({ kind: "sampling", args: { maxTokens: 5 } });
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
  const store = new Store(idle);
  const questions = new QuestionQueue(store);
  const seen: string[] = [];
  const { elicit } = answerServers({
    questions: () => questions,
    model: () => expect.fail("an elicitation needs no model"),
    isConsented: () => expect.fail("an elicitation calls no tool"),
    openUrl: async (url) => seen.push(`open ${url}`) > 0 && hasBrowser,
    schemaOf: () => undefined,
    note: () => {},
    tell: (text) => seen.push(text),
  });
  const answered = elicit({ mode: "url", ...address }, new AbortController().signal);
  const [question] = store.get().questions;
  expect(question).toEqual({ key: expect.any(String), kind: "url", purpose: "elicitation", ...address });
  questions.answer(question?.key ?? "", { kind: "url", value });
  expect(await answered).toEqual({ action });
  expect(seen).toEqual(effects);
});

test("a call that the user typed runs without a question; other calls are asked about", async () => {
  const asked: Asked[] = [];
  const confirmed: unknown[] = [];
  const details = confirmationDetails({ onConfirm: async (...how) => void confirmed.push(how) });
  const outcomes = [true, false].map((isTyped) => {
    const { confirm } = answerServers({
      questions: () => ({
        ask: async (_kind, question) => {
          asked.push(question);
          return "no" as never;
        },
      }),
      model: () => ({ provider: "gemini", name: "clever" }) as Model,
      isConsented: async () => isTyped,
      openUrl: () => expect.fail("a call opens no page"),
      schemaOf: () => undefined,
      note: () => {},
      tell: () => expect.fail("a call has no note"),
    });
    return confirm(details, new AbortController().signal);
  });
  expect(await Promise.all(outcomes)).toEqual([ProceedOnce, Cancel]);
  expect(confirmed).toEqual([[ProceedOnce, "typed"]]);
  expect(asked).toEqual([{ kind: "confirmation", view: toConfirmationView(details, { who: "model" }) }]);
});

test("a form of a server is asked as it is, and the answer is the user's", async () => {
  const store = new Store(idle);
  const questions = new QuestionQueue(store);
  const { elicit } = answerServers({
    questions: () => questions,
    model: () => expect.fail("an elicitation needs no model"),
    isConsented: () => expect.fail("an elicitation calls no tool"),
    openUrl: () => expect.fail("a form opens no page"),
    schemaOf: () => undefined,
    note: () => {},
    tell: () => expect.fail("a form has no note"),
  });
  const requestedSchema = { type: "object", properties: {} } as const;
  const request = { mode: "form", serverName: "s", message: "Who?", requestedSchema } as const;
  const answered = elicit(request, new AbortController().signal);
  const [question] = store.get().questions;
  const { serverName, message } = request;
  expect(question).toEqual({
    key: question?.key,
    kind: "form",
    serverName,
    message,
    schema: requestedSchema,
    purpose: "elicitation",
  });
  questions.answer(question?.key ?? "", { kind: "form", value: { action: "decline" } });
  expect(await answered).toEqual({ action: "decline" });
});

test.each([
  [undefined, '"s" asked a question with an invalid form. Fairlead declined the request.'],
  [
    `file:///${"x".repeat(400)}`,
    `"s" asked you to open an unsafe address: file:///${"x".repeat(292)}. Fairlead declined the request.`,
  ],
])("a request that cannot be asked is told: %j", (url, words) => {
  const told: string[] = [];
  const { onUnaskable } = answerServers({
    questions: () => expect.fail("nothing is asked"),
    model: () => expect.fail("no model is needed"),
    isConsented: () => expect.fail("no tool is called"),
    openUrl: () => expect.fail("no page is opened"),
    schemaOf: () => undefined,
    note: () => {},
    tell: (text) => told.push(text),
  });
  onUnaskable({ serverName: "s", message: "Go", ...(url !== undefined && { url }) });
  expect(told).toEqual([words]);
});

describe("a server's request to the model", () => {
  const finish = (reason: "stop" | "length"): ModelEvent => ({
    type: "finish",
    reason,
    content: { role: "model", parts: [] },
  });
  const says = (text: string): ModelEvent => ({ type: "text", text });

  /** What the model gets, what the user is asked, and the result or the error. */
  async function sample(
    params: JsonObject,
    events: readonly ModelEvent[],
    { isGiven = true, provider = "gemini" }: { isGiven?: boolean; provider?: Model["provider"] } = {},
  ) {
    const sent: unknown[] = [];
    const asked: Asked[] = [];
    const stream: Model["stream"] = async function* (messages, tools, _signal, options) {
      sent.push({ messages, tools, options });
      yield* events;
    };
    const { sample: run } = answerServers({
      questions: () => ({
        ask: async (_kind, question) => {
          asked.push(question);
          return isGiven as never;
        },
      }),
      model: () => ({ provider, name: "clever", stream }) as Model,
      isConsented: () => expect.fail("no tool is called"),
      openUrl: () => expect.fail("no page is opened"),
      schemaOf: () => undefined,
      note: () => {},
      tell: () => expect.fail("no note is shown"),
    });
    const result = await run({ serverName: "s", params }, new AbortController().signal).catch(
      (error: unknown) => error,
    );
    return { sent, asked, result };
  }

  test("is sent without the conversation, and the user sees the answer before the server", async () => {
    const params = {
      systemPrompt: "Be brief.",
      maxTokens: 5,
      messages: [
        { role: "user", content: { type: "text", text: "What is this?" } },
        {
          role: "user",
          content: [
            { type: "image", data: "AAAA", mimeType: "image/png" },
            { type: "image", data: "A" },
          ],
        },
        { role: "assistant", content: { type: "text", text: "A cat." } },
      ],
    };
    const usage = { type: "usage", inputTokens: 7, outputTokens: 2 } as const;
    const { sent, asked, result } = await sample(params, [says("A "), says("dog."), usage, finish("stop")]);
    expect(sent).toEqual([
      {
        messages: [
          { role: "user", parts: [{ text: "What is this?" }] },
          {
            role: "user",
            parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }, { text: '{"type":"image","data":"A"}' }],
          },
          { role: "model", parts: [{ text: "A cat." }] },
        ],
        tools: [],
        options: { system: "Be brief." },
      },
    ]);
    const answer = { text: "A dog.", inputTokens: 7, outputTokens: 2, isCut: false };
    expect(asked).toEqual([{ kind: "sampling", serverName: "s", params, model: "clever", answer }]);
    expect(result).toEqual({
      role: "assistant",
      content: { type: "text", text: "A dog." },
      model: "clever",
      stopReason: "endTurn",
    });
  });

  test.each<[params: JsonObject, events: readonly ModelEvent[], text: string, stopReason: string]>([
    [{ maxTokens: 2 }, [says("12345678"), finish("stop")], "12345678", "endTurn"],
    [{}, [says("12345678")], "12345678", "endTurn"],
    [{ maxTokens: 2 }, [says("12345"), says("67890"), says("x")], "12345678", "maxTokens"],
    [{ maxTokens: 0 }, [says("1234567890"), finish("stop")], "1234567890", "endTurn"],
    [{ maxTokens: "2" }, [says("1234567890"), finish("length")], "1234567890", "maxTokens"],
  ])("with %j, the answer %j is cut where it is too long", async (params, events, text, stopReason) => {
    const { sent, result } = await sample(params, events);
    expect(sent).toEqual([{ messages: [], tools: [], options: {} }]);
    expect(result).toMatchObject({ content: { text }, stopReason });
  });

  test("fails if there is no model, the model refuses, or the user does not give the answer", async () => {
    const manual = await sample({}, [], { provider: "manual" });
    expect(manual.result).toMatchObject({ code: "model", message: "no model configured", next: "/model" });
    expect(manual.sent).toEqual([]);
    const rejected = await sample({}, [{ type: "rejected", message: "too large" }]);
    expect(rejected.result).toMatchObject({ code: "model", message: "too large", serverName: "s" });
    expect(rejected.asked).toEqual([]);
    const refused = await sample({}, [says("A dog."), finish("stop")], { isGiven: false });
    expect(refused.result).toMatchObject({ code: "denied", serverName: "s" });
  });
});

describe("a model's call", () => {
  const schema = { type: "object", properties: { title: { type: "string" } } };

  /** The user answers the questions in this order. */
  async function answered(...given: readonly unknown[]) {
    const asked: Asked[] = [];
    const notes: string[] = [];
    const { confirm } = answerServers({
      questions: () => ({
        ask: async (_kind, question) => {
          asked.push(question);
          return given[asked.length - 1] as never;
        },
      }),
      model: () => ({ provider: "gemini", name: "clever" }) as Model,
      isConsented: async () => false,
      openUrl: () => expect.fail("a call opens no page"),
      schemaOf: (server, tool) => (server === "github" && tool === "create_issue" ? schema : undefined),
      note: (text, next) => notes.push(`${text} ${next}`),
      tell: () => expect.fail("a call has no warning"),
    });
    const details = confirmationDetails({ args: { title: "Hello" }, canEdit: true });
    const answer = await confirm(details, new AbortController().signal);
    return { answer, asked: asked.map(({ kind }) => kind), notes };
  }

  test("can get other arguments, which the user enters in a form", async () => {
    const form = { action: "accept", content: { title: "Goodbye" } };
    expect(await answered("edit", form)).toEqual({
      answer: { args: { title: "Goodbye" } },
      asked: ["confirmation", "form"],
      notes: [],
    });
  });

  test("is asked about again if the user leaves the form", async () => {
    expect(await answered("edit", { action: "cancel" }, { because: "no" })).toEqual({
      answer: { because: "no" },
      asked: ["confirmation", "form", "confirmation"],
      notes: [],
    });
  });

  test("can be allowed for good, and the note says how to take that back", async () => {
    const { answer, notes } = await answered("always");
    expect([answer, notes]).toEqual([
      "proceed_always_and_save",
      [
        "Saved: github.create_issue runs without a question from now on, until its definition changes. to remove the approval: /policy remove github.create_issue",
      ],
    ]);
  });
});

describe("a confirmation that other programs show too", () => {
  /** The app asks, with a real inbox beside it. */
  async function shared() {
    const folder = await temporaryFolder();
    const store = new Store(idle);
    const questions = new QuestionQueue(store);
    const notes: string[] = [];
    const confirmations = new SharedConfirmations(folder.path, "a conversation in the terminal app");
    const { confirm } = answerServers({
      questions: () => questions,
      model: () => ({ provider: "gemini", name: "clever" }) as Model,
      isConsented: async () => false,
      openUrl: () => expect.fail("a call opens no page"),
      schemaOf: () => undefined,
      note: (text) => notes.push(text),
      tell: () => expect.fail("a call has no warning"),
      share: (view, isOutdated) => confirmations.share(view, isOutdated),
    });
    const stop = new AbortController();
    const answer = confirm(confirmationDetails({ args: { title: "Hello" } }), stop.signal);
    const inbox = new Inbox(folder.path);
    await until(async () => (await inbox.list()).length > 0);
    const [entry] = await inbox.list();
    return {
      answer,
      stop,
      inbox,
      notes,
      id: entry?.id ?? "",
      open: () => store.get().questions,
      reply: (value: "no" | "once") =>
        questions.answer(store.get().questions[0]?.key ?? "", { kind: "confirmation", value }),
      async [Symbol.asyncDispose]() {
        confirmations.close();
        await folder[Symbol.asyncDispose]();
      },
    };
  }

  test("closes in the app when another program answers, and the app shows who answered", async () => {
    await using asked = await shared();
    expect(asked.open()).toHaveLength(1);
    await asked.inbox.answer(asked.id, "once", "the console");
    expect(await asked.answer).toBe(ProceedOnce);
    expect(asked.open()).toEqual([]);
    expect(asked.notes).toEqual(["github.create_issue: answered in the console: yes, once."]);
  });

  test("gives the model the reason of a no from another program", async () => {
    await using asked = await shared();
    await asked.inbox.answer(asked.id, "no", "the console", undefined, "not today");
    expect(await asked.answer).toEqual({ because: "not today" });
  });

  test("is answered for the other programs too when the user answers in the app", async () => {
    await using asked = await shared();
    asked.reply("no");
    expect(await asked.answer).toBe(Cancel);
    expect(await asked.inbox.answered(asked.id)).toMatchObject({ answer: "no", by: "the terminal app" });
    expect(asked.notes).toEqual([]);
  });

  test("leaves the inbox without an answer when the turn is stopped", async () => {
    await using asked = await shared();
    asked.stop.abort();
    expect(await asked.answer).toBe(Cancel);
    expect(await asked.inbox.list()).toEqual([]);
    expect(await asked.inbox.answered(asked.id)).toBeUndefined();
  });
});
