import { expect, test } from "vitest";
import { type ErrorCode, HostError } from "../../src/errors.ts";
import {
  type ApiProblem,
  brokenOff,
  type ModelApi,
  ownWords,
  readRefusal,
  toLostFailure,
  toModelFailure,
} from "../../src/model/api-failure.ts";
import type { ModelFailure } from "../../src/model/attempts.ts";

const api: ModelApi = {
  title: "the test API",
  model: "m-1",
  keyNext: "check the key",
  modelNext: "choose a model",
  reachNext: "start the server",
  redact: (text) => text.replaceAll("s3cret", "(hidden)"),
};

const shown = ({ error, ...rest }: ModelFailure) => ({
  ...rest,
  ...(({ code, message, next }) => ({ code, message, next }))(error),
});

test.each<[ApiProblem, string, string | undefined, ModelFailure["again"]]>([
  [
    { kind: "key", status: 401, message: "no s3cret" },
    "the test API does not accept the credentials (401): no (hidden)",
    "check the key",
    undefined,
  ],
  [
    { kind: "model_unknown", status: 404, message: "" },
    'the test API does not know the model "m-1"',
    "choose a model",
    undefined,
  ],
  [
    { kind: "quota", status: 429, message: "slow down" },
    "the test API has no quota left (429): slow down",
    "Wait and try again, or choose another model: --model NAME",
    { reason: "the quota of the test API is used up (429)" },
  ],
  [
    { kind: "quota", status: 429, message: "slow down", afterMs: 0, isSpent: false },
    "the test API has no quota left (429): slow down",
    "Wait and try again, or choose another model: --model NAME",
    { reason: "the quota of the test API is used up (429)", afterMs: 0 },
  ],
  [
    { kind: "quota", status: 429, message: "pay", afterMs: 5, isSpent: true },
    "the test API has no quota left (429): pay",
    "Wait and try again, or choose another model: --model NAME",
    undefined,
  ],
  [
    { kind: "too_long", status: 400, message: "x" },
    'the conversation is too long for "m-1": x',
    "Begin a new conversation, use fewer servers, or refer to fewer resources.",
    undefined,
  ],
  [
    { kind: "no_functions", status: 400, message: "x" },
    '"m-1" cannot call tools: x',
    "Choose a model that can call tools: --model NAME",
    undefined,
  ],
  [
    { kind: "too_many_functions", status: 400, message: "x" },
    "the test API does not accept so many tools: x",
    "Use fewer servers: --servers NAME,NAME",
    undefined,
  ],
  [
    { kind: "unavailable", status: 503, message: " x ", afterMs: 2_000 },
    "the test API is not available now (503): x",
    "Try again in a while.",
    { reason: "the test API answered 503", afterMs: 2_000 },
  ],
  [{ kind: "other", status: 418, message: "tea" }, "the test API refused the request (418): tea", undefined, undefined],
])(
  "the user reads what the API reports, and Fairlead asks again only if that helps: %j",
  (problem, message, next, again) => {
    expect(shown(toModelFailure(problem, api))).toEqual({ code: "model", message, next, ...(again && { again }) });
  },
);

test("of a long message of the API, the user reads the first 1000 characters", () => {
  const message = (length: number): string =>
    toModelFailure({ kind: "other", status: 400, message: "x".repeat(length) }, api).error.message;
  expect(message(1_000)).toBe(`the test API refused the request (400): ${"x".repeat(1_000)}`);
  expect(message(1_001)).toBe(`the test API refused the request (400): ${"x".repeat(999)}…`);
});

test.each<[ErrorCode, string | undefined]>([
  ["proxy", "start the server"],
  ["tls", "start the server"],
  ["unreachable", "start the server"],
  ["auth_required", "sign in"],
  ["model", "sign in"],
])("a failure with the code %s before an answer is an error of the model, with the next step %s", (code, next) => {
  const error = new HostError(code, "no s3cret", { next: "sign in" });
  expect(shown(toLostFailure(error, api))).toEqual({ code: "model", message: "no (hidden)", next });
});

test("a failure without an answer is passed on, or reported as a broken or an invalid answer", () => {
  const cancelled = new HostError("cancelled", "cancelled");
  expect(toLostFailure(cancelled, api)).toEqual({ error: cancelled });
  expect(toLostFailure(cancelled, api).error).toBe(cancelled);
  const broken = {
    code: "model",
    message: "the answer of the test API broke off",
    next: "Try again.",
    again: { reason: "the answer of the test API broke off" },
  };
  expect(shown(toLostFailure(new HostError("lost", "x"), api))).toEqual(broken);
  expect(shown(brokenOff(api))).toEqual(broken);
  expect(shown(toLostFailure(new HostError("model", "x"), api))).toEqual({
    code: "model",
    message: "x",
    next: undefined,
  });
  expect(shown(toLostFailure(new SyntaxError("bad s3cret"), api))).toEqual({
    code: "model",
    message: "the answer of the test API is invalid: bad (hidden)",
    next: undefined,
  });
});

test.each([
  ["", ""],
  ["plain words", "plain words"],
  ['one "two"', "one "],
  ["one `two`", "one "],
  ["one {two}", "one "],
  ["one 'two'", "one "],
  ["it's one 'two'", "it's one "],
  [`${"x".repeat(300)}y`, "x".repeat(300)],
])("of the message %j, the API's own words are %j", (message, words) => {
  expect(ownWords(message)).toBe(words);
});

test("a refusal is read with its status, its body and the pause that the API asks for", async () => {
  const headers = { "retry-after": "4" };
  expect(await readRefusal(new Response("no", { status: 429, headers }))).toEqual({
    status: 429,
    body: "no",
    retryAfter: "4",
  });
  expect(await readRefusal(new Response("", { status: 500 }))).toEqual({ status: 500, body: "" });
});
