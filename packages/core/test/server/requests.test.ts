import { type JsonObject, WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { Elicitation, ElicitationAnswer } from "../../src/server/elicitation.ts";
import { type Answerers, answerRequests, type Completion, toCompletion } from "../../src/server/requests.ts";
import { manualClock } from "../support/manual-clock.ts";

const signal = new AbortController().signal;
const form = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string" }, loud: { type: "boolean", default: true }, __proto__: { type: "string" } },
  },
};

function answering(answerers: Answerers, clock = manualClock()) {
  const made = answerRequests("s", answerers, { perMinute: 5, clock });
  if (made === undefined) throw new Error("answerRequests returned no handler");
  return made;
}

async function fault(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return error instanceof WireError ? [error.evidence.rpc?.code, error.message] : error;
  }
}

const accept =
  (content: Record<string, unknown>, asked: Elicitation[] = []) =>
  async (request: Elicitation): Promise<ElicitationAnswer> => {
    asked.push(request);
    return { action: "accept", content };
  };

test("Fairlead declares only the capabilities whose requests it can answer", () => {
  expect(answerRequests("s", {}, { perMinute: 5, clock: manualClock() })).toBeUndefined();
  expect(answering({ roots: [] }).capabilities).toEqual({ roots: {} });
  expect(answering({ elicit: accept({}), sample: async () => ({}) }).capabilities).toEqual({
    elicitation: { form: { applyDefaults: true }, url: {} },
    sampling: {},
  });
});

test.each([
  [
    "an address that is no page",
    { mode: "url", message: "Go", url: "javascript:alert(1)" },
    { url: "javascript:alert(1)" },
  ],
  [
    "an address that hides where it leads",
    { mode: "url", message: "Go", url: "https://a@b/" },
    { url: "https://a@b/" },
  ],
  ["a form that is none", { mode: "form", message: "Go" }, {}],
])("what is declined without being asked is told: %s", async (_what, params, told) => {
  const heard: unknown[] = [];
  const { onRequest } = answering({ elicit: accept({}), onUnaskable: (question) => heard.push(question) });
  expect(await onRequest("elicitation/create", params, signal)).toEqual({ action: "decline" });
  expect(heard).toEqual([{ serverName: "s", message: "Go", ...told }]);
});

test("folders are told as they are", async () => {
  const root = { uri: "file:///work", name: "work" };
  expect(await answering({ roots: [root] }).onRequest("roots/list", {}, signal)).toEqual({ roots: [root] });
});

test("a request without a handler is refused in the protocol's words", async () => {
  const { onRequest } = answering({ roots: [] });
  expect(await fault(onRequest("elicitation/create", form, signal))).toEqual([
    -32601,
    "elicitation/create is not supported",
  ]);
  expect(await fault(onRequest("sampling/createMessage", {}, signal))).toEqual([
    -1,
    "sampling is not allowed for this server",
  ]);
});

describe("a form", () => {
  test("goes to the person with the server's name; defaults fill what was left open, and nothing else goes back", async () => {
    const asked: Elicitation[] = [];
    const { onRequest } = answering({ elicit: accept({ name: "Ada", secret: 7 }, asked) });
    expect(await onRequest("elicitation/create", form, signal)).toEqual({
      action: "accept",
      content: { name: "Ada", loud: true },
    });
    expect(asked).toEqual([{ mode: "form", serverName: "s", ...form }]);
  });

  test.each(["decline", "cancel"] as const)("a person may %s", async (action) => {
    const { onRequest } = answering({ elicit: async () => ({ action }) });
    expect(await onRequest("elicitation/create", form, signal)).toEqual({ action });
  });

  test("that is none is declined without asking the user", async () => {
    const { onRequest } = answering({ elicit: () => Promise.reject(new Error("bothered")) });
    expect(await onRequest("elicitation/create", { message: "x" }, signal)).toEqual({ action: "decline" });
    expect(await onRequest("elicitation/create", { ...form, mode: "dance" }, signal)).toEqual({ action: "decline" });
  });
});

describe("an address", () => {
  test("is handed on, and no content comes back", async () => {
    const asked: Elicitation[] = [];
    const { onRequest } = answering({ elicit: accept({ a: 1 }, asked) });
    const url = "https://example.com/pay?x=1";
    expect(await onRequest("elicitation/create", { mode: "url", message: "Pay", url }, signal)).toEqual({
      action: "accept",
    });
    expect(asked).toEqual([{ mode: "url", serverName: "s", message: "Pay", url }]);
  });

  test.each(["file:///etc/passwd", "javascript:alert(1)", "https://bank.com@evil.com/", "x", "", 7])(
    "%s is declined without asking the user",
    async (url) => {
      const { onRequest } = answering({ elicit: () => Promise.reject(new Error("bothered")) });
      expect(await onRequest("elicitation/create", { mode: "url", message: "", url }, signal)).toEqual({
        action: "decline",
      });
    },
  );
});

test("a model is asked without the server's wish for the conversation", async () => {
  const asked: unknown[] = [];
  const { onRequest } = answering({
    sample: async (request) => {
      asked.push(request);
      return { role: "assistant" };
    },
  });
  const params = { messages: [], maxTokens: 5, includeContext: "allServers" };
  expect(await onRequest("sampling/createMessage", params, signal)).toEqual({ role: "assistant" });
  expect(asked).toEqual([{ serverName: "s", params: { messages: [], maxTokens: 5 } }]);
});

test("one question at a time, and not more than five in a minute", async () => {
  const clock = manualClock();
  const answers: ((answer: ElicitationAnswer) => void)[] = [];
  const { onRequest } = answering({ elicit: () => new Promise((resolve) => answers.push(resolve)) }, clock);
  const ask = (): Promise<unknown> => fault(onRequest("elicitation/create", form, signal));
  for (let round = 0; round < 5; round += 1) {
    const first = ask();
    expect(await ask()).toEqual([-32000, "elicitation/create refused: another question of this server is still open"]);
    answers.at(-1)?.({ action: "cancel" });
    expect(await first).toEqual({ action: "cancel" });
  }
  expect(await ask()).toEqual([-32000, "elicitation/create refused: more than 5 questions in a minute"]);
  await clock.pass(60_000);
  const later = ask();
  answers.at(-1)?.({ action: "cancel" });
  expect(await later).toEqual({ action: "cancel" });
});

test.each<[string, JsonObject]>([
  ["elicitation/create", form],
  ["sampling/createMessage", { messages: [] }],
])(
  "%s that the server no longer waits for does not delay the next one, even if its answer never comes",
  async (...asked) => {
    const hangs = (): Promise<never> => new Promise(() => {});
    const { onRequest } = answering({ elicit: hangs, sample: hangs });
    for (let round = 0; round < 3; round += 1) {
      const caller = new AbortController();
      const question = onRequest(...asked, caller.signal);
      caller.abort();
      await expect(question).rejects.toMatchObject({
        code: "cancelled",
        message: `"s" cancelled ${asked[0]}`,
      });
    }
  },
);

test.each<[unknown, Completion]>([
  [
    { values: ["a", 1, "b", null], total: 7, hasMore: true },
    { values: ["a", "b"], total: 7, hasMore: true },
  ],
  [
    { values: ["a"], total: "7", hasMore: "yes" },
    { values: ["a"], hasMore: false },
  ],
  [
    { values: "a", total: 0 },
    { values: [], total: 0, hasMore: false },
  ],
  ["nothing", { values: [], hasMore: false }],
])("the server's suggestions %j are read as %j", (raw, completion) => {
  expect(toCompletion(raw)).toEqual(completion);
});
